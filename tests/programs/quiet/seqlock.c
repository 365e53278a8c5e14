// A position with three coordinates is published by a sequence lock over atomics: two writers exclude each other by the
// sequence itself, readers count how often they have to read again.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { UPDATES = 4, READS = 4 };

static atomic_uint sequence;
static atomic_int x, y, z;
static atomic_int retries;

static unsigned write_begin(void) {
    for (;;) {
        unsigned even = atomic_load_explicit(&sequence, memory_order_relaxed) & ~1u;
        if (atomic_compare_exchange_weak_explicit(&sequence, &even, even + 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
            // Keeps the stores that follow after the odd sequence, as readers see them.
            atomic_thread_fence(memory_order_release);
            return even + 1;
        }
        sched_yield();
    }
}

static void write_end(unsigned odd) {
    atomic_store_explicit(&sequence, odd + 1, memory_order_release);
}

static void *move(void *arg) {
    int start = *(int *)arg;
    for (int i = 0; i < UPDATES; i++) {
        unsigned odd = write_begin();
        atomic_store_explicit(&x, start + i, memory_order_relaxed);
        atomic_store_explicit(&y, 2 * (start + i), memory_order_relaxed);
        atomic_store_explicit(&z, 3 * (start + i), memory_order_relaxed);
        write_end(odd);
    }
    return NULL;
}

static void *follow(void *arg) {
    int *last = arg;
    for (int i = 0; i < READS; i++) {
        int a, b, c;
        for (;;) {
            unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
            a = atomic_load_explicit(&x, memory_order_relaxed);
            b = atomic_load_explicit(&y, memory_order_relaxed);
            c = atomic_load_explicit(&z, memory_order_relaxed);
            atomic_thread_fence(memory_order_acquire);
            unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
            if (before == after && before % 2 == 0)
                break;
            atomic_fetch_add_explicit(&retries, 1, memory_order_relaxed);
            sched_yield();
        }
        assert(b == 2 * a && c == 3 * a);
        *last = a;
    }
    return NULL;
}

int main(void) {
    pthread_t movers[2], followers[2];
    int starts[2] = {10, 50}, last[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&movers[i], NULL, move, &starts[i]);
        pthread_create(&followers[i], NULL, follow, &last[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(movers[i], NULL);
        pthread_join(followers[i], NULL);
    }
    assert(atomic_load(&sequence) == 2 * 2 * UPDATES);
    printf("last: %d %d, retries: %d\n", last[0], last[1], atomic_load(&retries));
    return 0;
}
