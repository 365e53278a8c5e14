// exercises: pthread_cond_timedwait (realtime and monotonic attribute) and pthread_cond_clockwait, timed out and notified
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t real = PTHREAD_COND_INITIALIZER;
static pthread_cond_t mono;
static int stage;

static struct timespec in_ms(clockid_t clock, long ms) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += (t.tv_nsec + ms * 1000000) / 1000000000;
    t.tv_nsec = (t.tv_nsec + ms * 1000000) % 1000000000;
    return t;
}

static int reached(clockid_t clock, struct timespec t) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec > t.tv_sec || (now.tv_sec == t.tv_sec && now.tv_nsec >= t.tv_nsec);
}

static void *advance(void *arg) {
    (void)arg;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        stage++;
        pthread_cond_signal(&real);
        pthread_cond_broadcast(&mono);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_condattr_t attr;
    struct timespec deadline;
    pthread_condattr_init(&attr);
    assert(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0);
    pthread_cond_init(&mono, &attr);

    pthread_mutex_lock(&lock);
    int result;
    deadline = in_ms(CLOCK_REALTIME, 10);
    while ((result = pthread_cond_timedwait(&real, &lock, &deadline)) == 0)
        ;
    assert(result == ETIMEDOUT && reached(CLOCK_REALTIME, deadline));
    deadline = in_ms(CLOCK_MONOTONIC, 10);
    while ((result = pthread_cond_timedwait(&mono, &lock, &deadline)) == 0)
        ;
    assert(result == ETIMEDOUT && reached(CLOCK_MONOTONIC, deadline));
    deadline = in_ms(CLOCK_MONOTONIC, 10);
    while ((result = pthread_cond_clockwait(&real, &lock, CLOCK_MONOTONIC, &deadline)) == 0)
        ;
    assert(result == ETIMEDOUT && reached(CLOCK_MONOTONIC, deadline));

    pthread_create(&thread, NULL, advance, NULL);
    for (int wanted = 1; wanted <= 3; wanted++) {
        while (stage < wanted) {
            deadline = in_ms(CLOCK_MONOTONIC, 3000);
            result = wanted % 2 ? pthread_cond_timedwait(&mono, &lock, &deadline)
                                : pthread_cond_clockwait(&real, &lock, CLOCK_MONOTONIC, &deadline);
            assert(result == 0 || reached(CLOCK_MONOTONIC, deadline));
        }
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    assert(stage == 3);
    return 0;
}
