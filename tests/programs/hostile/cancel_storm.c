// hostile: threads cancelled at every kind of cancellation point: join, cond_timedwait, sleep, read, in nested cleanup handlers
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int cleaned;
static sem_t never;
static int pipe_ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void count(void *arg) {
    (void)arg;
    atomic_fetch_add(&cleaned, 1);
}

static void unlock(void *arg) {
    assert(pthread_mutex_unlock(arg) == 0);
    atomic_fetch_add(&cleaned, 1);
}

static void *blocked(void *arg) {
    (void)arg;
    pthread_cleanup_push(count, NULL);
    while (sem_wait(&never) != 0)
        ;
    pthread_cleanup_pop(0);
    return NULL;
}

static void *joins(void *arg) {
    pthread_cleanup_push(count, NULL);
    pthread_join(*(pthread_t *)arg, NULL);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *sleeps(void *arg) {
    (void)arg;
    pthread_cleanup_push(count, NULL);
    sleep(3600);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *reads(void *arg) {
    char byte;
    (void)arg;
    pthread_cleanup_push(count, NULL);
    if (read(pipe_ends[0], &byte, 1) == 1)
        return NULL;
    pthread_cleanup_pop(0);
    return NULL;
}

static void *waits(void *arg) {
    struct timespec far;
    (void)arg;
    clock_gettime(CLOCK_REALTIME, &far);
    far.tv_sec += 3600;
    pthread_cleanup_push(count, NULL);
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    pthread_cond_timedwait(&changed, &lock, &far);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void) {
    pthread_t first, threads[4];
    void *result;
    sem_init(&never, 0, 0);
    assert(pipe(pipe_ends) == 0);
    pthread_create(&first, NULL, blocked, NULL);
    pthread_create(&threads[0], NULL, joins, &first);
    pthread_create(&threads[1], NULL, sleeps, NULL);
    pthread_create(&threads[2], NULL, reads, NULL);
    pthread_create(&threads[3], NULL, waits, NULL);
    for (int i = 0; i < 4; i++) {
        assert(pthread_cancel(threads[i]) == 0);
        assert(pthread_join(threads[i], &result) == 0 && result == PTHREAD_CANCELED);
    }
    assert(pthread_cancel(first) == 0);
    assert(pthread_join(first, &result) == 0 && result == PTHREAD_CANCELED);
    assert(cleaned == 6);
    assert(pthread_mutex_trylock(&lock) == 0);
    return 0;
}
