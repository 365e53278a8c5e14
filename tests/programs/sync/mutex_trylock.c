// exercises: pthread_mutex_trylock in bounded retry loops, with work done either way
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>

enum { THREADS = 3, ROUNDS = 8, TRIES = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counted;
static int missed[THREADS];

static int try_once(void) {
    int result = pthread_mutex_trylock(&lock);
    assert(result == 0 || result == EBUSY);
    return result == 0;
}

static void *worker(void *arg) {
    int index = *(int *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        int done = 0;
        for (int tries = 0; tries < TRIES && !done; tries++) {
            done = try_once();
            if (!done) {
                missed[index]++;
                sched_yield();
            }
        }
        if (!done)
            pthread_mutex_lock(&lock);
        counted++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int indices[THREADS];
    for (int i = 0; i < THREADS; i++) {
        indices[i] = i;
        pthread_create(&threads[i], NULL, worker, &indices[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counted == THREADS * ROUNDS);
    for (int i = 0; i < THREADS; i++)
        assert(missed[i] <= ROUNDS * TRIES);
    assert(pthread_mutex_trylock(&lock) == 0);
    assert(pthread_mutex_trylock(&lock) == EBUSY);
    pthread_mutex_unlock(&lock);
    return 0;
}
