// A heartbeat checks that its service is up as long as the process runs; main shuts the service down and returns.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { BEATS = 3 };

static atomic_int is_up;

static void *beat(void *arg) {
    for (int i = 0; i < BEATS; i++) {
        assert(atomic_load(&is_up));
    }
    return arg;
}

int main(void) {
    pthread_t heart;
    atomic_store(&is_up, 1);
    pthread_create(&heart, NULL, beat, NULL);
    pthread_join(heart, NULL);
    atomic_store(&is_up, 0);
    return 0;
}
