// exercises: pthread_create that fails for want of memory, from several threads, before and after threads that do start
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { WORKERS = 3 };

static int started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *arg) {
    pthread_mutex_lock(&lock);
    started++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void fail(void) {
    pthread_attr_t attr;
    pthread_t thread;
    assert(pthread_attr_init(&attr) == 0);
    assert(pthread_attr_setstacksize(&attr, (size_t)1 << 50) == 0);
    assert(pthread_create(&thread, &attr, count, NULL) != 0);
    assert(pthread_attr_destroy(&attr) == 0);
}

static void *worker(void *arg) {
    pthread_t child;
    void *value;
    fail();
    assert(pthread_create(&child, NULL, count, arg) == 0);
    fail();
    assert(pthread_join(child, &value) == 0);
    assert(value == arg);
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    fail();
    for (intptr_t i = 0; i < WORKERS; i++)
        assert(pthread_create(&threads[i], NULL, worker, (void *)i) == 0);
    for (int i = 0; i < WORKERS; i++)
        assert(pthread_join(threads[i], NULL) == 0);
    assert(started == WORKERS);
    return 0;
}
