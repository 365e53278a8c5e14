//@ none
//@ unconfirmed: 0

// A read-modify-write of another thread continues the release sequence.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int payload;
static atomic_int stage;

static void *publish(void *arg) {
    payload = 42; // @write
    atomic_store_explicit(&stage, 1, memory_order_release);
    return arg;
}

static void *pass_on(void *arg) {
    if (atomic_load_explicit(&stage, memory_order_relaxed) == 1) {
        atomic_fetch_add_explicit(&stage, 1, memory_order_relaxed);
    }
    return arg;
}

static void *consume(void *arg) {
    if (atomic_load_explicit(&stage, memory_order_acquire) == 2) {
        printf("%d\n", payload); // @read
    }
    return arg;
}

int main(void) {
    pthread_t writer, middle, reader;
    pthread_create(&writer, NULL, publish, NULL);
    pthread_create(&middle, NULL, pass_on, NULL);
    pthread_create(&reader, NULL, consume, NULL);
    pthread_join(writer, NULL);
    pthread_join(middle, NULL);
    pthread_join(reader, NULL);
    return 0;
}
