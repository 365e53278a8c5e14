// exercises: short sleeps and short timeouts that end while other threads could run; no wait is shorter than it was
// asked to be, and clocks never go back
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t none;
static int counter;

static long long now(clockid_t id) {
    struct timespec time;
    clock_gettime(id, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static struct timespec in(long long ns) {
    long long at = now(CLOCK_REALTIME) + ns;
    return (struct timespec){at / 1000000000, at % 1000000000};
}

static void *waits(void *arg) {
    long own = (long)arg;
    for (int i = 0; i < 4; i++) {
        long long before = now(CLOCK_MONOTONIC);
        usleep(300 + own * 100);
        assert(now(CLOCK_MONOTONIC) - before >= 300000 + own * 100000);
        struct timespec until = in(700000);
        pthread_mutex_lock(&lock);
        counter++;
        assert(pthread_cond_timedwait(&never, &lock, &until) == ETIMEDOUT);
        pthread_mutex_unlock(&lock);
        until = in(400000);
        assert(sem_timedwait(&none, &until) == -1 && errno == ETIMEDOUT);
        struct timeval while_nothing = {0, 200};
        assert(select(0, NULL, NULL, NULL, &while_nothing) == 0);
        assert(now(CLOCK_MONOTONIC) - before >= 1600000);
    }
    return NULL;
}

static void *works(void *arg) {
    (void)arg;
    for (int i = 0; i < 60; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    sem_init(&none, 0, 0);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, waits, (void *)i);
    pthread_create(&threads[3], NULL, works, NULL);
    struct timespec until = in(1000000);
    int late = pthread_timedjoin_np(threads[3], NULL, &until);
    assert(late == 0 || late == ETIMEDOUT);
    if (late)
        pthread_join(threads[3], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 72);
    return 0;
}
