//@ none
//@ unconfirmed: 0

// The flag is atomic.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int payload;
static atomic_int ready;

static void *publish(void *arg) {
    payload = 42;
    atomic_store(&ready, 1); // @set
    return arg;
}

static void *consume(void *arg) {
    if (atomic_load(&ready)) { // @test
        printf("%d\n", payload);
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
