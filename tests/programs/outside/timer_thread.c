// exercises: a timer that notifies in a thread of libc's own making, for which main waits
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int fired;

static void on_timer(union sigval value) {
    pthread_mutex_lock(&lock);
    fired += value.sival_int;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *idle(void *arg) {
    pthread_mutex_lock(&lock);
    while (!fired)
        pthread_cond_wait(&changed, &lock);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer, .sigev_value.sival_int = 7};
    struct itimerspec once = {.it_value.tv_nsec = 20000000};
    timer_t timer;
    pthread_t thread;
    pthread_create(&thread, NULL, idle, NULL);
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    assert(timer_settime(timer, 0, &once, NULL) == 0);
    pthread_mutex_lock(&lock);
    while (!fired)
        pthread_cond_wait(&changed, &lock);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    assert(fired == 7);
    return 0;
}
