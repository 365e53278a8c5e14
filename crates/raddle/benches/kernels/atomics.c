// A stack without locks (indices with a version against ABA), and counters.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 2, NODES = 1024, ROUNDS = 700000 };

static atomic_uint_fast64_t top;
static atomic_uint next[NODES + 1];
static atomic_uint_fast64_t pushes, pops;

static void push(uint32_t node) {
    uint64_t old = atomic_load(&top), new;
    do {
        atomic_store_explicit(&next[node], (uint32_t)old, memory_order_relaxed);
        new = ((old >> 32) + 1) << 32 | node;
    } while (!atomic_compare_exchange_weak(&top, &old, new));
    atomic_fetch_add_explicit(&pushes, 1, memory_order_relaxed);
}

static uint32_t pop(void) {
    uint64_t old = atomic_load(&top), new;
    do {
        if ((uint32_t)old == 0)
            return 0;
        uint32_t after = atomic_load_explicit(&next[(uint32_t)old], memory_order_relaxed);
        new = ((old >> 32) + 1) << 32 | after;
    } while (!atomic_compare_exchange_weak(&top, &old, new));
    atomic_fetch_add_explicit(&pops, 1, memory_order_relaxed);
    return (uint32_t)old;
}

static void *work(void *argument) {
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t node = pop();
        if (node != 0)
            push(node);
    }
    return argument;
}

int main(void) {
    pthread_t threads[THREADS];
    for (uint32_t node = 1; node <= NODES; node++)
        push(node);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", (int)(atomic_load(&pushes) - atomic_load(&pops)));
}
