// Two workers count their steps in a trace, but only while tracing is switched on, which a third thread does.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int is_tracing;
static atomic_int traced;

static void *work(void *arg) {
    if (atomic_load(&is_tracing))
        traced++;
    return arg;
}

static void *switch_on(void *arg) {
    atomic_store(&is_tracing, 1);
    return arg;
}

int main(void) {
    pthread_t workers[2], admin;
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    pthread_create(&admin, NULL, switch_on, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    pthread_join(admin, NULL);
    assert(traced <= 2);
    return 0;
}
