// The queue lock of Craig, Landin and Hagersten: each thread spins on the node of the one before it and takes that node
// over. Waiting is bounded in steps before the processor is given away.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, EACH = 3, SPINS = 8 };

struct node {
    atomic_bool is_held;
};

struct clh_lock {
    _Atomic(struct node *) tail;
};

struct handle {
    struct node *own, *before;
};

static struct clh_lock lock;
static long balance, postings;

static struct node *new_node(void) {
    struct node *node = malloc(sizeof *node);
    atomic_init(&node->is_held, false);
    return node;
}

static void acquire(struct clh_lock *l, struct handle *h) {
    atomic_store_explicit(&h->own->is_held, true, memory_order_relaxed);
    h->before = atomic_exchange_explicit(&l->tail, h->own, memory_order_acq_rel);
    for (int spins = 0; atomic_load_explicit(&h->before->is_held, memory_order_acquire); spins++)
        if (spins >= SPINS) {
            sched_yield();
            spins = 0;
        }
}

static void release(struct handle *h) {
    struct node *free_one = h->before;
    atomic_store_explicit(&h->own->is_held, false, memory_order_release);
    // The own node may still be looked at by the thread after; no other thread has the one before.
    h->own = free_one;
}

static void *post(void *arg) {
    long amount = *(long *)arg;
    struct handle handle = {new_node(), NULL};
    for (int i = 0; i < EACH; i++) {
        acquire(&lock, &handle);
        balance += amount;
        postings++;
        release(&handle);
    }
    free(handle.own);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    long amounts[THREADS] = {7, -3, 11};
    atomic_init(&lock.tail, new_node());
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, post, &amounts[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    free(atomic_load(&lock.tail));
    assert(balance == EACH * 15 && postings == THREADS * EACH);
    printf("balance: %ld\n", balance);
    return 0;
}
