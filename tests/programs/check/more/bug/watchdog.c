// A watchdog ends the process with status 3 if a job has made no progress when it looks, after a millisecond.
// bug: a job that is merely slow to begin is taken for one that is stuck
//@ expect: exit|atomicity-violation
//@ consequence: exit
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int progress;

static void *work(void *arg) {
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&progress, 1);
    return arg;
}

static void *watch(void *arg) {
    usleep(1000);
    if (atomic_load(&progress) == 0)
        exit(3);
    return arg;
}

int main(void) {
    pthread_t worker, watchdog;
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&watchdog, NULL, watch, NULL);
    pthread_join(worker, NULL);
    pthread_join(watchdog, NULL);
    return 0;
}
