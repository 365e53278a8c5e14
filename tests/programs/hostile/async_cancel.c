// hostile: threads that may be cancelled at any time: in a loop, while they wait for a mutex, by themselves, and as soon as they allow it
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int turns, cleaned, disabled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void count(void *arg) {
    (void)arg;
    atomic_fetch_add(&cleaned, 1);
}

static void *loops(void *arg) {
    int before = -1;
    assert(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before) == 0 && before == PTHREAD_CANCEL_DEFERRED);
    pthread_cleanup_push(count, NULL);
    for (;; sched_yield())
        for (int i = 0; i < 20; i++)
            atomic_fetch_add(&turns, 1);
    pthread_cleanup_pop(0);
    return arg;
}

static void *waits(void *arg) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_cleanup_push(count, NULL);
    pthread_mutex_lock(&lock);
    assert(0);
    pthread_cleanup_pop(0);
    return arg;
}

static void *cancels_itself(void *arg) {
    pthread_cleanup_push(count, NULL);
    pthread_cancel(pthread_self());
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    assert(0);
    pthread_cleanup_pop(0);
    return arg;
}

static void *allows_it_late(void *arg) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_cleanup_push(count, NULL);
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    atomic_store(&disabled, 1);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    assert(0);
    pthread_cleanup_pop(0);
    return arg;
}

static void *is_deferred(void *arg) {
    int before = -1;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    assert(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before) == 0 && before == PTHREAD_CANCEL_ASYNCHRONOUS);
    assert(pthread_setcanceltype(7, NULL) != 0);
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both);
    for (int i = 0; i < 10; i++)
        atomic_fetch_add(&turns, 1);
    return arg;
}

static void end(pthread_t thread) {
    void *result;
    assert(pthread_cancel(thread) == 0);
    assert(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

int main(void) {
    pthread_t thread, other;
    void *result;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, loops, NULL);
    while (turns < 3)
        sched_yield();
    end(thread);
    assert(cleaned == 1);

    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, waits, NULL);
    pthread_create(&other, NULL, waits, NULL);
    end(thread);
    end(other);
    pthread_mutex_unlock(&lock);

    pthread_create(&thread, NULL, cancels_itself, NULL);
    assert(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);

    pthread_create(&thread, NULL, allows_it_late, NULL);
    pthread_barrier_wait(&both);
    pthread_cancel(thread);
    pthread_barrier_wait(&both);
    assert(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED && disabled);

    pthread_create(&thread, NULL, is_deferred, NULL);
    pthread_barrier_wait(&both);
    pthread_cancel(thread);
    pthread_barrier_wait(&both);
    assert(pthread_join(thread, &result) == 0 && result != PTHREAD_CANCELED);
    return 0;
}
