// Four workers show for one moment each that they are at work; nobody expects that all are at the same time.
// bug: they can be, in one of some thousand schedules; no bug is predicted, but that the watcher's branch can go that way
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { WORKERS = 4 };

static atomic_int at_work[WORKERS];

static void *work(void *arg) {
    int me = (int)(long)arg;
    atomic_store(&at_work[me], 1);
    atomic_store(&at_work[me], 0);
    return NULL;
}

static void *watch(void *arg) {
    int seen = 0;
    for (int worker = 0; worker < WORKERS; worker++)
        seen += atomic_load(&at_work[worker]);
    assert(seen < WORKERS);
    return arg;
}

int main(void) {
    pthread_t workers[WORKERS], watcher;
    for (long worker = 0; worker < WORKERS; worker++)
        pthread_create(&workers[worker], NULL, work, (void *)worker);
    pthread_create(&watcher, NULL, watch, NULL);
    for (int worker = 0; worker < WORKERS; worker++)
        pthread_join(workers[worker], NULL);
    pthread_join(watcher, NULL);
    return 0;
}
