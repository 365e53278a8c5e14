// A hundred passengers choose a seat on a map of seats; two of them want the same one.
// bug: whether a seat is free is asked first and the name is put down afterwards
//@ expect: atomicity-violation|assertion
//@ also: atomicity-violation
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { PASSENGERS = 100 };

static atomic_int seats[PASSENGERS];
static atomic_int seated;

static void *choose(void *arg) {
    int passenger = (int)(long)arg;
    int wanted = passenger == 71 ? 23 : passenger;
    if (atomic_load(&seats[wanted]) == 0) {
        atomic_store(&seats[wanted], passenger + 1);
        atomic_fetch_add(&seated, 1);
    }
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
