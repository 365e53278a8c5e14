// exercises: spin loops on a flag, with sched_yield, with a bare loop, and a bounded try loop
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int stage;
static int payload;
static atomic_int bounded_result;

static void *yields(void *arg) {
    (void)arg;
    while (atomic_load_explicit(&stage, memory_order_acquire) != 1)
        sched_yield();
    assert(payload == 10);
    payload = 20;
    atomic_store_explicit(&stage, 2, memory_order_release);
    return NULL;
}

static void *spins(void *arg) {
    (void)arg;
    while (atomic_load_explicit(&stage, memory_order_acquire) != 2)
        ;
    assert(payload == 20);
    payload = 30;
    atomic_store_explicit(&stage, 3, memory_order_release);
    return NULL;
}

static void *tries(void *arg) {
    (void)arg;
    int seen = 0;
    for (int i = 0; i < 50 && !seen; i++)
        seen = atomic_load(&stage) == 3;
    atomic_store(&bounded_result, seen ? 1 : 2);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, yields, NULL);
    pthread_create(&threads[1], NULL, spins, NULL);
    pthread_create(&threads[2], NULL, tries, NULL);
    payload = 10;
    atomic_store_explicit(&stage, 1, memory_order_release);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(payload == 30 && atomic_load(&stage) == 3);
    assert(bounded_result == 1 || bounded_result == 2);
    return 0;
}
