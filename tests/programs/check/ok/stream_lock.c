//@ none

// A stream's lock, which libc keeps to itself, guards a counter: nothing that Raddle records orders the two.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int lines;

static void *print_first(void *arg) {
    flockfile(stdout);
    lines++; // @first
    funlockfile(stdout);
    return arg;
}

static void *print_second(void *arg) {
    flockfile(stdout);
    lines++; // @second
    funlockfile(stdout);
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, print_first, NULL);
    pthread_create(&other, NULL, print_second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return lines == 2 ? 0 : 1;
}
