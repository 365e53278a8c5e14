// exercises: pthread_create, pthread_join, pthread_exit, pthread_self, pthread_equal, values returned through join
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

enum { WORKERS = 4, LEVELS = 3 };

static uint64_t results[WORKERS];
static pthread_t ids[WORKERS];

static void leave(uint64_t value) {
    pthread_exit((void *)(uintptr_t)value);
}

static void *worker(void *arg) {
    uint64_t index = (uint64_t)(uintptr_t)arg;
    for (uint64_t i = 0; i <= index; i++)
        results[index] += i * 10 + 1;
    ids[index] = pthread_self();
    if (index % 2 == 0)
        leave(results[index]);
    return (void *)(uintptr_t)results[index];
}

static void *nested(void *arg) {
    uintptr_t level = (uintptr_t)arg;
    if (level == LEVELS)
        return (void *)1;
    pthread_t child;
    void *below;
    assert(pthread_create(&child, NULL, nested, (void *)(level + 1)) == 0);
    assert(pthread_join(child, &below) == 0);
    return (void *)((uintptr_t)below + 1);
}

int main(void) {
    pthread_t threads[WORKERS];
    for (uintptr_t i = 0; i < WORKERS; i++)
        assert(pthread_create(&threads[i], NULL, worker, (void *)i) == 0);
    for (int i = WORKERS - 1; i >= 0; i--) {
        void *value;
        assert(pthread_join(threads[i], &value) == 0);
        assert((uint64_t)(uintptr_t)value == results[i]);
        assert(pthread_equal(ids[i], threads[i]));
        assert(!pthread_equal(ids[i], pthread_self()));
    }
    assert(results[3] == 0 * 10 + 1 + 11 + 21 + 31);
    assert(nested(0) == (void *)(LEVELS + 1));
    assert(pthread_join(pthread_self(), NULL) == EDEADLK);
    return 0;
}
