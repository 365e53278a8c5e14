// hostile: threads that wait in the kernel and threads that sleep at the same time see the same time pass
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int ends[2];

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *sleeper(void *unused) {
    (void)unused;
    long start = now_ms();
    usleep(600 * 1000);
    long slept = now_ms() - start;
    if (slept < 600 || slept > 800) printf("slept for %ld ms\n", slept);
    assert(600 <= slept && slept <= 800);
    assert(write(ends[1], "x", 1) == 1);
    return 0;
}

int main(void) {
    assert(pipe(ends) == 0);
    pthread_t thread;
    pthread_create(&thread, 0, sleeper, 0);
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    long start = now_ms();
    int in_vain = 0;
    while (poll(&end, 1, 100) == 0) in_vain++;
    long waited = now_ms() - start;
    if (waited > 900 || in_vain < 4 || in_vain > 8) printf("waited for %ld ms, %d times in vain\n", waited, in_vain);
    // The sleep of 600 ms takes six waits of 100 ms, give or take what the machine is late by.
    assert(waited <= 900 && 4 <= in_vain && in_vain <= 8);
    pthread_join(thread, 0);
    return 0;
}
