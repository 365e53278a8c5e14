// A flag that is stored and loaded relaxed: every run reads what was published, though nothing orders it.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int payload;
static atomic_int ready;

static void *publish(void *arg) {
    payload = 42; // @write
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t publisher;
    pthread_create(&publisher, NULL, publish, NULL);
    while (atomic_load_explicit(&ready, memory_order_relaxed) == 0) {
    }
    int value = payload; // @read
    assert(value == 42);
    pthread_join(publisher, NULL);
    printf("%d\n", value);
    return 0;
}
