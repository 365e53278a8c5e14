// hostile: five thousand threads over a life, five hundred of them at once
#include <assert.h>
#include <pthread.h>

enum { LIFE = 4500, WAVE = 10, CROWD = 500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t open = PTHREAD_COND_INITIALIZER;
static int counter, is_open;

static void *counts(void *arg) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *waits(void *arg) {
    pthread_mutex_lock(&lock);
    while (!is_open)
        pthread_cond_wait(&open, &lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t crowd[CROWD];
    for (int done = 0; done < LIFE; done += WAVE) {
        for (int i = 0; i < WAVE; i++)
            assert(pthread_create(&crowd[i], NULL, counts, NULL) == 0);
        for (int i = 0; i < WAVE; i++)
            assert(pthread_join(crowd[i], NULL) == 0);
    }
    assert(counter == LIFE);
    for (int i = 0; i < CROWD; i++)
        assert(pthread_create(&crowd[i], NULL, waits, NULL) == 0);
    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_cond_broadcast(&open);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < CROWD; i++)
        assert(pthread_join(crowd[i], NULL) == 0);
    assert(counter == LIFE + CROWD);
    return 0;
}
