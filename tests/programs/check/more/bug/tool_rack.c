// Two mechanics need two spanners each, and the rack has two.
// bug: each may take one spanner and wait for the second for ever
//@ expect: deadlock
//@ consequence: deadlock
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t spanners;
static int repaired[2];

static void *repair(void *arg) {
    int *mine = arg;
    sem_wait(&spanners);
    sem_wait(&spanners);
    *mine = 1;
    sem_post(&spanners);
    sem_post(&spanners);
    return NULL;
}

int main(void) {
    pthread_t mechanics[2];
    sem_init(&spanners, 0, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&mechanics[i], NULL, repair, &repaired[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(mechanics[i], NULL);
    assert(repaired[0] + repaired[1] == 2);
    sem_destroy(&spanners);
    return 0;
}
