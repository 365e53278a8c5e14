//@ expect: data-race set test
//@ also: data-race

// A volatile flag is not atomic: a data race, on the flag and on what it is meant to publish.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int payload;
static volatile int ready;

static void *publish(void *arg) {
    payload = 42;
    ready = 1; // @set
    return arg;
}

static void *consume(void *arg) {
    if (ready) { // @test
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
