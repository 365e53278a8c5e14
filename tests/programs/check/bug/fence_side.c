//@ expect: data-race write read

// A release fence stands in for the stores after it, not for those before.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int payload;
static atomic_int ready;

static void *publish(void *arg) {
    payload = 42; // @write
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    return arg;
}

static void *consume(void *arg) {
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        printf("%d\n", payload); // @read
    }
    return arg;
}

int main(void) {
    pthread_t writer, reader;
    pthread_create(&writer, NULL, publish, NULL);
    pthread_create(&reader, NULL, consume, NULL);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    return 0;
}
