// Functions that read what was left on the stack below them. Where the runtime is entered differs between a run and its
// replay, and must not be among it. Long enough that not every event is a point.
// races: yes
#include <pthread.h>

static volatile long shared, seen[2];

__attribute__((noinline)) static void busy(void) {
    for (int i = 0; i < 400; i++) shared++;
}

__attribute__((noinline)) static long left_below(void) {
    volatile long places[24];
    long all = 0;
    for (int i = 0; i < 24; i++) all = all * 31 + places[i];
    return all;
}

static void *work(void *arg) {
    volatile long *mine = arg;
    for (int i = 0; i < 1000; i++) {
        busy();
        *mine = left_below();
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)&seen[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
