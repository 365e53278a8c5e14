// exercises: deferred cancellation in pthread_cond_wait, sem_wait and pthread_testcancel, with cleanup handlers; disabled cancellation
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty;
static int cleaned;
static int worked;
static sem_t protected_ready;

static void unlock_it(void *arg) {
    cleaned++;
    pthread_mutex_unlock(arg);
}

static void count(void *arg) {
    pthread_mutex_lock(&lock);
    cleaned += *(int *)arg;
    pthread_mutex_unlock(&lock);
}

static void *waits_on_condition(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock_it, &lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    return NULL;
}

static void *waits_on_semaphore(void *arg) {
    static int ten = 10;
    (void)arg;
    pthread_cleanup_push(count, &ten);
    sem_wait(&empty);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *polls(void *arg) {
    static int hundred = 100;
    (void)arg;
    pthread_cleanup_push(count, &hundred);
    for (;;) {
        pthread_testcancel();
        sched_yield();
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void *defers(void *arg) {
    int old;
    (void)arg;
    assert(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
    assert(old == PTHREAD_CANCEL_ENABLE);
    sem_post(&protected_ready);
    for (int i = 0; i < 5; i++) {
        pthread_testcancel();
        worked++;
    }
    return (void *)7;
}

int main(void) {
    pthread_t threads[3], busy;
    void *result;
    sem_init(&empty, 0, 0);
    sem_init(&protected_ready, 0, 0);
    pthread_create(&threads[0], NULL, waits_on_condition, NULL);
    pthread_create(&threads[1], NULL, waits_on_semaphore, NULL);
    pthread_create(&threads[2], NULL, polls, NULL);
    pthread_create(&busy, NULL, defers, NULL);
    sem_wait(&protected_ready);
    assert(pthread_cancel(busy) == 0);
    struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
    for (int i = 0; i < 3; i++) {
        assert(pthread_cancel(threads[i]) == 0);
        assert(pthread_join(threads[i], &result) == 0);
        assert(result == PTHREAD_CANCELED);
    }
    assert(pthread_join(busy, &result) == 0);
    assert(result == (void *)7 && worked == 5);
    /* No thread meets a cancellation point before its handler is pushed, so every handler has run. */
    assert(cleaned == 111);
    assert(pthread_mutex_trylock(&lock) == 0);
    return 0;
}
