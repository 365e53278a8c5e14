// corrected: each philosopher takes the fork with the lower number first
#include <pthread.h>

enum { SEATS = 3 };

static pthread_mutex_t forks[SEATS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int meals[SEATS];

static void *philosopher(void *arg) {
    int seat = (int)(long)arg;
    int other = (seat + 1) % SEATS;
    pthread_mutex_t *lower = &forks[seat < other ? seat : other];
    pthread_mutex_t *higher = &forks[seat < other ? other : seat];
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(lower);
        pthread_mutex_lock(higher);
        meals[seat]++;
        pthread_mutex_unlock(higher);
        pthread_mutex_unlock(lower);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[SEATS];
    for (long i = 0; i < SEATS; i++)
        pthread_create(&threads[i], NULL, philosopher, (void *)i);
    for (int i = 0; i < SEATS; i++)
        pthread_join(threads[i], NULL);
    return meals[0] == 2 && meals[1] == 2 && meals[2] == 2 ? 0 : 1;
}
