// exercises: a robust mutex whose owner ends while others already wait for it
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock;
static sem_t held;
static int value, repairs;

static void *owner(void *arg) {
    (void)arg;
    assert(pthread_mutex_lock(&lock) == 0);
    value = 1;
    sem_post(&held);
    sem_post(&held);
    value = 2;
    return NULL;
}

static void *heir(void *arg) {
    (void)arg;
    sem_wait(&held);
    int result = pthread_mutex_lock(&lock);
    if (result == EOWNERDEAD) {
        assert(value == 2);
        repairs++;
        assert(pthread_mutex_consistent(&lock) == 0);
    } else {
        assert(result == 0);
    }
    value++;
    assert(pthread_mutex_unlock(&lock) == 0);
    return NULL;
}

int main(void) {
    pthread_t first, second, third;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &attr);
    sem_init(&held, 0, 0);
    pthread_create(&second, NULL, heir, NULL);
    pthread_create(&third, NULL, heir, NULL);
    pthread_create(&first, NULL, owner, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_join(third, NULL);
    assert(value == 4 && repairs == 1);
    return 0;
}
