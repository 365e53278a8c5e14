// exercises: recursive, error-checking and adaptive mutexes and the error codes each must give
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

enum { THREADS = 3, DEPTH = 4, ROUNDS = 4 };

static pthread_mutex_t recursive, checked, adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static int depth_sum, checked_sum, adaptive_sum;

static void init(pthread_mutex_t *mutex, int type) {
    pthread_mutexattr_t attr;
    int read_back;
    pthread_mutexattr_init(&attr);
    assert(pthread_mutexattr_settype(&attr, type) == 0);
    assert(pthread_mutexattr_gettype(&attr, &read_back) == 0 && read_back == type);
    assert(pthread_mutex_init(mutex, &attr) == 0);
    pthread_mutexattr_destroy(&attr);
}

static void descend(int depth) {
    assert(pthread_mutex_lock(&recursive) == 0);
    depth_sum += depth;
    if (depth < DEPTH)
        descend(depth + 1);
    assert(pthread_mutex_trylock(&recursive) == 0);
    assert(pthread_mutex_unlock(&recursive) == 0);
    assert(pthread_mutex_unlock(&recursive) == 0);
}

static void *worker(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        descend(1);
        assert(pthread_mutex_unlock(&recursive) == EPERM);

        assert(pthread_mutex_unlock(&checked) == EPERM);
        assert(pthread_mutex_lock(&checked) == 0);
        assert(pthread_mutex_lock(&checked) == EDEADLK);
        assert(pthread_mutex_trylock(&checked) == EBUSY);
        checked_sum++;
        assert(pthread_mutex_unlock(&checked) == 0);

        assert(pthread_mutex_lock(&adaptive) == 0);
        adaptive_sum++;
        assert(pthread_mutex_unlock(&adaptive) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    init(&recursive, PTHREAD_MUTEX_RECURSIVE);
    init(&checked, PTHREAD_MUTEX_ERRORCHECK);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(depth_sum == THREADS * ROUNDS * (1 + 2 + 3 + 4));
    assert(checked_sum == THREADS * ROUNDS && adaptive_sum == THREADS * ROUNDS);
    assert(pthread_mutex_destroy(&recursive) == 0 && pthread_mutex_destroy(&checked) == 0);
    return 0;
}
