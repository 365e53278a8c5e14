// exercises: default mutexes, static and dynamic, nested in a fixed order, unlocked and destroyed; a counter that must not lose updates
#include <assert.h>
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 12 };

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner;
static int total, per_inner, inside;

static void *worker(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        assert(pthread_mutex_lock(&outer) == 0);
        total++;
        if (i % 3 == 0) {
            assert(pthread_mutex_lock(&inner) == 0);
            assert(inside == 0);
            inside = 1;
            per_inner++;
            inside = 0;
            assert(pthread_mutex_unlock(&inner) == 0);
        }
        assert(pthread_mutex_unlock(&outer) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_NORMAL);
    assert(pthread_mutex_init(&inner, &attr) == 0);
    pthread_mutexattr_destroy(&attr);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(total == THREADS * ROUNDS);
    assert(per_inner == THREADS * ROUNDS / 3);
    assert(pthread_mutex_destroy(&inner) == 0);
    return 0;
}
