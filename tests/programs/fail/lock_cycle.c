// bug: three philosophers each take the left fork first; all three may hold one and wait for the next
// expect: deadlock
#include <pthread.h>

enum { SEATS = 3 };

static pthread_mutex_t forks[SEATS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int meals[SEATS];

static void *philosopher(void *arg) {
    int seat = (int)(long)arg;
    pthread_mutex_t *left = &forks[seat];
    pthread_mutex_t *right = &forks[(seat + 1) % SEATS];
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(left);
        pthread_mutex_lock(right);
        meals[seat]++;
        pthread_mutex_unlock(right);
        pthread_mutex_unlock(left);
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
