// The queue lock of Mellor-Crummey and Scott, with nodes on the stacks of the waiting threads. Under it: a histogram.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

enum { THREADS = 3, EACH = 4, BUCKETS = 4 };

struct waiter {
    _Atomic(struct waiter *) next;
    atomic_bool is_blocked;
};

struct mcs_lock {
    _Atomic(struct waiter *) tail;
};

static struct mcs_lock lock;
static int histogram[BUCKETS], total;

static void acquire(struct mcs_lock *l, struct waiter *own) {
    atomic_store_explicit(&own->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&own->is_blocked, true, memory_order_relaxed);
    struct waiter *before = atomic_exchange_explicit(&l->tail, own, memory_order_acq_rel);
    if (before == NULL)
        return;
    atomic_store_explicit(&before->next, own, memory_order_release);
    while (atomic_load_explicit(&own->is_blocked, memory_order_acquire))
        sched_yield();
}

static void release(struct mcs_lock *l, struct waiter *own) {
    struct waiter *next = atomic_load_explicit(&own->next, memory_order_acquire);
    if (next == NULL) {
        struct waiter *expected = own;
        if (atomic_compare_exchange_strong_explicit(&l->tail, &expected, NULL, memory_order_release,
                                                    memory_order_relaxed))
            return;
        // The next one has taken its place in the queue and is about to say so.
        while ((next = atomic_load_explicit(&own->next, memory_order_acquire)) == NULL)
            sched_yield();
    }
    atomic_store_explicit(&next->is_blocked, false, memory_order_release);
}

static void *count(void *arg) {
    unsigned state = *(unsigned *)arg;
    for (int i = 0; i < EACH; i++) {
        struct waiter own;
        state = state * 1103515245 + 12345;
        acquire(&lock, &own);
        histogram[(state >> 16) % BUCKETS]++;
        total++;
        release(&lock, &own);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    unsigned seeds[THREADS];
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = 17u * (i + 1);
        pthread_create(&threads[i], NULL, count, &seeds[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int sum = 0;
    for (int i = 0; i < BUCKETS; i++)
        sum += histogram[i];
    assert(sum == THREADS * EACH && total == sum);
    printf("%d counted\n", total);
    return 0;
}
