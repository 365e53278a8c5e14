//@ expect: data-race write read

// A ring between one producer and one consumer, whose head is moved on relaxed.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { SIZE = 4, COUNT = 3 };

static int ring[SIZE];
static atomic_uint head, tail;

static void *produce(void *arg) {
    for (int value = 1; value <= COUNT; value++) {
        unsigned at = atomic_load_explicit(&head, memory_order_relaxed);
        while (at - atomic_load_explicit(&tail, memory_order_acquire) == SIZE) {
        }
        ring[at % SIZE] = value; // @write
        atomic_store_explicit(&head, at + 1, memory_order_relaxed);
    }
    return arg;
}

static void *consume(void *arg) {
    int sum = 0;
    for (int taken = 0; taken < COUNT; taken++) {
        unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);
        while (atomic_load_explicit(&head, memory_order_acquire) == at) {
        }
        sum += ring[at % SIZE]; // @read
        atomic_store_explicit(&tail, at + 1, memory_order_release);
    }
    printf("%d\n", sum);
    return arg;
}

int main(void) {
    pthread_t producer, consumer;
    pthread_create(&producer, NULL, produce, NULL);
    pthread_create(&consumer, NULL, consume, NULL);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    return 0;
}
