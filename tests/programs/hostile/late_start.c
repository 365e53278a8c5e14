// hostile: a thread that waits long for its first turn. A function with variable arguments saves its vector registers on
// the stack, and padding that is copied carries them into shared memory: what the runtime had in them while the thread
// waited must not be among it
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACES = 200 };

struct padded { char first; long second; };

static struct padded *copies;
static long sum;

__attribute__((noinline)) static void print(void) {
    char text[400];
    snprintf(text, sizeof text, "%.3f", 0.1);
}

__attribute__((noinline)) static void copy(void) {
    struct padded places[PLACES];
    asm volatile("" : : "r"(places) : "memory");
    for (int i = 0; i < PLACES; i++) places[i].first = 1, places[i].second = i;
    asm volatile("" : : "r"(places) : "memory");
    for (int i = 0; i < PLACES; i++) copies[i] = places[i];
    for (int i = 0; i < PLACES; i++) sum ^= *(long *)&copies[i];
}

static void *work(void *argument) {
    print();
    copy();
    return argument;
}

// Works for some 30 ms without an event.
static void be_late(void) {
    long rounds = 60 * 1000 * 1000;
    asm volatile("1: dec %0; jnz 1b" : "+r"(rounds) : : "cc");
}

int main(void) {
    copies = calloc(PLACES, sizeof *copies);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    be_late();
    pthread_join(thread, NULL);
}
