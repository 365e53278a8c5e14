//@ expect: data-race append append
//@ also: data-race append

// A ticket lock that serves the next one relaxed.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_uint next_ticket, serving;
static int log_length;

static void *append(void *arg) {
    unsigned mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != mine) {
    }
    log_length++; // @append
    atomic_store_explicit(&serving, mine + 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, append, NULL);
    pthread_create(&other, NULL, append, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("%d\n", log_length);
    return 0;
}
