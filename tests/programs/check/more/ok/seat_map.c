// A hundred passengers choose a seat on a map of seats; two of them want the same one.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { PASSENGERS = 100 };

static atomic_int seats[PASSENGERS];
static atomic_int seated;

static void *choose(void *arg) {
    int passenger = (int)(long)arg;
    int wanted = passenger == 71 ? 23 : passenger;
    int nobody = 0;
    if (atomic_compare_exchange_strong(&seats[wanted], &nobody, passenger + 1))
        atomic_fetch_add(&seated, 1);
    return NULL;
}

int main(void) {
    pthread_t passengers[PASSENGERS];
    for (long i = 0; i < PASSENGERS; i++)
        pthread_create(&passengers[i], NULL, choose, (void *)i);
    for (int i = 0; i < PASSENGERS; i++)
        pthread_join(passengers[i], NULL);
    int taken = 0;
    for (int i = 0; i < PASSENGERS; i++)
        taken += seats[i] != 0;
    assert(taken == seated);
    return 0;
}
