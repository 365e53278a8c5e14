// Forty machines sell the seats of one hall; a machine sells only while there are seats left.
// bug: asking for seats left and taking one lock separately, so the last seat may be sold twice
//@ expect: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>

enum { MACHINES = 40, SEATS = 39 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seats = SEATS;

static void *sell(void *arg) {
    pthread_mutex_lock(&lock);
    int left = seats;
    pthread_mutex_unlock(&lock);
    if (left == 0)
        return arg;
    pthread_mutex_lock(&lock);
    seats--;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t machines[MACHINES];
    for (int i = 0; i < MACHINES; i++)
        pthread_create(&machines[i], NULL, sell, NULL);
    for (int i = 0; i < MACHINES; i++)
        pthread_join(machines[i], NULL);
    assert(seats >= 0);
    return 0;
}
