// exercises: sem_timedwait and sem_clockwait: timed out on an empty semaphore, successful on a posted one
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

enum { POSTS = 5 };

static sem_t items;

static void *poster(void *arg) {
    (void)arg;
    for (int i = 0; i < POSTS; i++)
        sem_post(&items);
    return NULL;
}

static struct timespec soon(clockid_t clock, long ns) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += (t.tv_nsec + ns) / 1000000000;
    t.tv_nsec = (t.tv_nsec + ns) % 1000000000;
    return t;
}

int main(void) {
    pthread_t thread;
    struct timespec past = {1, 0}, later;
    sem_init(&items, 0, 0);
    assert(sem_timedwait(&items, &past) == -1 && errno == ETIMEDOUT);
    later = soon(CLOCK_REALTIME, 5000000);
    assert(sem_timedwait(&items, &later) == -1 && errno == ETIMEDOUT);
    later = soon(CLOCK_MONOTONIC, 5000000);
    assert(sem_clockwait(&items, CLOCK_MONOTONIC, &later) == -1 && errno == ETIMEDOUT);
    struct timespec bad = {1, 2000000000};
    assert(sem_timedwait(&items, &bad) == -1 && errno == EINVAL);

    pthread_create(&thread, NULL, poster, NULL);
    for (int taken = 0; taken < POSTS;) {
        later = soon(CLOCK_REALTIME, 500000000);
        if (sem_timedwait(&items, &later) == 0)
            taken++;
        else
            assert(errno == ETIMEDOUT);
    }
    pthread_join(thread, NULL);
    int value;
    sem_getvalue(&items, &value);
    assert(value == 0);
    return 0;
}
