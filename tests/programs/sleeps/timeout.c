// bug: a short timeout is taken to be long enough for another thread to post, or to signal, if there is an argument
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t posted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *posts(void *arg) {
    (void)arg;
    sem_post(&posted);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    pthread_t worker;
    sem_init(&posted, 0, 0);
    pthread_create(&worker, NULL, posts, NULL);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 2000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (argc > 1) {
        pthread_mutex_lock(&lock);
        while (!ready)
            assert(pthread_cond_timedwait(&changed, &lock, &until) == 0);
        pthread_mutex_unlock(&lock);
    } else {
        assert(sem_timedwait(&posted, &until) == 0);
    }
    pthread_join(worker, NULL);
    return 0;
}
