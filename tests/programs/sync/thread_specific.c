// exercises: pthread_key_create, destructors that run at thread exit (and set the key again), pthread_setspecific, __thread
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 3 };

static pthread_key_t plain_key, again_key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int destroyed, rounds;
static __thread int own = 5;

static void destroy(void *block) {
    pthread_mutex_lock(&lock);
    destroyed += *(int *)block;
    pthread_mutex_unlock(&lock);
    free(block);
}

static void destroy_twice(void *value) {
    pthread_mutex_lock(&lock);
    rounds++;
    pthread_mutex_unlock(&lock);
    if (value == (void *)1)
        pthread_setspecific(again_key, (void *)2);
}

static void *worker(void *arg) {
    int *block = malloc(sizeof *block);
    *block = *(int *)arg;
    assert(pthread_getspecific(plain_key) == NULL);
    pthread_setspecific(plain_key, block);
    pthread_setspecific(again_key, (void *)1);
    for (int i = 0; i < 10; i++)
        own += *block;
    assert(own == 5 + 10 * *block);
    assert(pthread_getspecific(plain_key) == block);
    return NULL;
}

int main(void) {
    static int amounts[THREADS] = {1, 10, 100};
    pthread_t threads[THREADS];
    assert(pthread_key_create(&plain_key, destroy) == 0);
    assert(pthread_key_create(&again_key, destroy_twice) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, &amounts[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(destroyed == 111);
    assert(rounds == 2 * THREADS);
    assert(own == 5);
    pthread_key_delete(plain_key);
    pthread_key_delete(again_key);
    return 0;
}
