// Threads count what they do, in assembly; the counts are for the log only, and order nothing.
// bug: the table is filled in while others may use it
//@ expect: data-race fill use
//@ consequence: none
//@ proved: maximal-control-flow
#include <pthread.h>
#include <stdio.h>

static int filled, served;
static int table[4];

static void count(int *counter) {
    __asm__ volatile("lock; incl %0" : "+m"(*counter) : : "memory", "cc");
}

static void *fill(void *arg) {
    for (int i = 0; i < 4; i++)
        table[i] = i + 1; // @fill
    count(&filled);
    count(&served);
    return arg;
}

static void *serve(void *arg) {
    count(&served);
    int value = table[0]; // @use
    return (void *)(long)(value + (arg != NULL));
}

int main(void) {
    pthread_t filler, server;
    pthread_create(&filler, NULL, fill, NULL);
    pthread_create(&server, NULL, serve, NULL);
    pthread_join(filler, NULL);
    pthread_join(server, NULL);
    printf("%d filled, %d served\n", filled, served);
    return 0;
}
