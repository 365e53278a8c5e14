// A porter sleeps on a semaphore if there is no guest; a guest rings only if the porter sleeps.
//@ none
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static sem_t bell;
static atomic_int guests, asleep;

static void *guard(void *arg) {
    atomic_store(&asleep, 1);
    if (atomic_load(&guests) == 0) {
        sem_wait(&bell);
    }
    assert(atomic_load(&guests) == 1);
    return arg;
}

static void *arrive(void *arg) {
    atomic_store(&guests, 1);
    if (atomic_load(&asleep))
        sem_post(&bell);
    return arg;
}

int main(void) {
    pthread_t porter, guest;
    sem_init(&bell, 0, 0);
    pthread_create(&porter, NULL, guard, NULL);
    pthread_create(&guest, NULL, arrive, NULL);
    pthread_join(porter, NULL);
    pthread_join(guest, NULL);
    sem_destroy(&bell);
    return 0;
}
