// hostile: destructors of thread-specific values that lock, set values again, signal, start threads and are cancelled into
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_key_t stubborn, final;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int rounds, finals, helpers;

static void *helps(void *arg) {
    pthread_mutex_lock(&lock);
    helpers++;
    pthread_mutex_unlock(&lock);
    return arg;
}

/// Comes back until libc gives up.
static void again(void *value) {
    pthread_mutex_lock(&lock);
    rounds++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_setspecific(stubborn, value);
}

static void starts_helper(void *value) {
    pthread_t helper;
    free(value);
    assert(pthread_create(&helper, NULL, helps, NULL) == 0 && pthread_join(helper, NULL) == 0);
    pthread_mutex_lock(&lock);
    finals++;
    pthread_mutex_unlock(&lock);
}

static void *lives(void *arg) {
    pthread_setspecific(stubborn, &rounds);
    pthread_setspecific(final, malloc(16));
    if (arg)
        for (;;)
            pause();
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    assert(pthread_key_create(&stubborn, again) == 0 && pthread_key_create(&final, starts_helper) == 0);
    pthread_create(&threads[0], NULL, lives, NULL);
    pthread_create(&threads[1], NULL, lives, NULL);
    pthread_create(&threads[2], NULL, lives, &threads);
    pthread_cancel(threads[2]);
    pthread_mutex_lock(&lock);
    while (rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    // The cancelled one may not have come to its first value.
    assert(finals == helpers && finals >= 2);
    assert(rounds == 3 * PTHREAD_DESTRUCTOR_ITERATIONS || rounds == 2 * PTHREAD_DESTRUCTOR_ITERATIONS);
    return 0;
}
