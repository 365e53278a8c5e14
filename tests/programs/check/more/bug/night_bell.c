// A porter sleeps on a semaphore if there is no guest; a guest rings only if the porter sleeps.
// bug: the porter says that it sleeps after it has looked for guests; a guest in between does not ring
//@ expect: deadlock
//@ also: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: deadlock
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static sem_t bell;
static atomic_int guests, asleep;

static void *guard(void *arg) {
    if (atomic_load(&guests) == 0) {
        atomic_store(&asleep, 1);
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
