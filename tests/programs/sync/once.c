// exercises: pthread_once raced by several threads, two controls, the second used inside the first
#include <assert.h>
#include <pthread.h>
#include <sched.h>

enum { THREADS = 4 };

static pthread_once_t outer = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static int outer_runs, inner_runs, table[8];

static void init_inner(void) {
    inner_runs++;
    table[0] = 1;
}

static void init_outer(void) {
    outer_runs++;
    pthread_once(&inner, init_inner);
    for (int i = 1; i < 8; i++) {
        table[i] = table[i - 1] * 2;
        sched_yield();
    }
}

static void *worker(void *arg) {
    if (arg)
        pthread_once(&inner, init_inner);
    assert(pthread_once(&outer, init_outer) == 0);
    assert(table[7] == 128);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, i % 2 ? &table : NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(outer_runs == 1 && inner_runs == 1);
    return 0;
}
