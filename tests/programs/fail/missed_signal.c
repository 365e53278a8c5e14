// bug: the predicate is changed and signalled without the lock, between the waiter's test and its wait
// expect: deadlock
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static atomic_int parcels;

static void *recipient(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    while (parcels == 0)
        pthread_cond_wait(&arrived, &lock);
    parcels--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *courier(void *arg) {
    (void)arg;
    parcels++;
    pthread_cond_signal(&arrived);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, recipient, NULL);
    pthread_create(&threads[1], NULL, courier, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("parcels left: %d\n", parcels);
    return 0;
}
