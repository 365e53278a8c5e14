// A watchdog ends the process with status 3 if a job has made no progress when it looks, after a millisecond.
//@ none
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int progress;
static sem_t is_done;

static void *work(void *arg) {
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&progress, 1);
    sem_post(&is_done);
    return arg;
}

static void *watch(void *arg) {
    sem_wait(&is_done);
    if (atomic_load(&progress) == 0)
        exit(3);
    return arg;
}

int main(void) {
    pthread_t worker, watchdog;
    sem_init(&is_done, 0, 0);
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&watchdog, NULL, watch, NULL);
    pthread_join(worker, NULL);
    pthread_join(watchdog, NULL);
    return 0;
}
