// exercises: nanosleep, usleep, sleep, clock_nanosleep relative and absolute; clocks never run backwards and never too short
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(clockid_t clock) {
    struct timespec t;
    assert(clock_gettime(clock, &t) == 0);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *short_naps(void *arg) {
    (void)arg;
    for (int i = 0; i < 5; i++) {
        int64_t before = now_ns(CLOCK_MONOTONIC);
        usleep(1000);
        assert(now_ns(CLOCK_MONOTONIC) - before >= 1000000);
    }
    return NULL;
}

static void *relative(void *arg) {
    (void)arg;
    for (int i = 0; i < 5; i++) {
        struct timespec nap = {0, 2000000};
        int64_t before = now_ns(CLOCK_MONOTONIC);
        assert(nanosleep(&nap, NULL) == 0);
        assert(now_ns(CLOCK_MONOTONIC) - before >= 2000000);
        before = now_ns(CLOCK_REALTIME);
        assert(clock_nanosleep(CLOCK_REALTIME, 0, &nap, NULL) == 0);
        assert(now_ns(CLOCK_REALTIME) - before >= 2000000);
    }
    return NULL;
}

static void *absolute(void *arg) {
    (void)arg;
    int64_t target = now_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < 5; i++) {
        target += 3000000;
        struct timespec until = {target / 1000000000, target % 1000000000};
        assert(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
        assert(now_ns(CLOCK_MONOTONIC) >= target);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    struct timeval first, last;
    time_t start = time(NULL);
    gettimeofday(&first, NULL);
    pthread_create(&threads[0], NULL, short_naps, NULL);
    pthread_create(&threads[1], NULL, relative, NULL);
    pthread_create(&threads[2], NULL, absolute, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(sleep(0) == 0);
    gettimeofday(&last, NULL);
    assert((last.tv_sec - first.tv_sec) * 1000000LL + last.tv_usec - first.tv_usec >= 20000);
    assert(time(NULL) >= start);
    return 0;
}
