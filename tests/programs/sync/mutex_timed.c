// exercises: pthread_mutex_timedlock and pthread_mutex_clocklock, past and future deadlines; a timeout only once the clock has passed
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t held, go_on;
static int owned;

static struct timespec in_ms(clockid_t clock, long ms) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static int reached(clockid_t clock, struct timespec t) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec > t.tv_sec || (now.tv_sec == t.tv_sec && now.tv_nsec >= t.tv_nsec);
}

static void *holder(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    sem_post(&held);
    sem_wait(&go_on);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *contender(void *arg) {
    (void)arg;
    for (;;) {
        struct timespec deadline = in_ms(CLOCK_MONOTONIC, 5000);
        int result = pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &deadline);
        if (result == 0)
            break;
        assert(result == ETIMEDOUT && reached(CLOCK_MONOTONIC, deadline));
    }
    owned++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b, c;
    sem_init(&held, 0, 0);
    sem_init(&go_on, 0, 0);
    pthread_create(&a, NULL, holder, NULL);
    sem_wait(&held);

    struct timespec past = {1, 0};
    assert(pthread_mutex_timedlock(&lock, &past) == ETIMEDOUT);
    struct timespec soon = in_ms(CLOCK_REALTIME, 20);
    assert(pthread_mutex_timedlock(&lock, &soon) == ETIMEDOUT && reached(CLOCK_REALTIME, soon));
    soon = in_ms(CLOCK_MONOTONIC, 20);
    assert(pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
    assert(reached(CLOCK_MONOTONIC, soon));

    pthread_create(&b, NULL, contender, NULL);
    pthread_create(&c, NULL, contender, NULL);
    sem_post(&go_on);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(owned == 2);
    /* A free lock is taken even if the deadline is long past. */
    assert(pthread_mutex_timedlock(&lock, &past) == 0);
    pthread_mutex_unlock(&lock);
    return 0;
}
