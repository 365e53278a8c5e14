// hostile: interval timers, POSIX timers and timer descriptors beside threads that work, and alarms that never come
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static atomic_int ticks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void on_alarm(int number) {
    (void)number;
    ticks++;
}

static void *works(void *arg) {
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *waits_for_descriptor(void *arg) {
    struct itimerspec soon = {.it_value = {0, 2000000}};
    uint64_t times = 0;
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    assert(fd >= 0 && timerfd_settime(fd, 0, &soon, NULL) == 0);
    assert(read(fd, &times, sizeof times) == sizeof times && times >= 1);
    close(fd);
    return arg;
}

static void *waits_for_ticks(void *arg) {
    struct timespec nap = {0, 1000000};
    while (ticks < 3)
        nanosleep(&nap, NULL);
    return arg;
}

int main(void) {
    pthread_t threads[4];
    timer_t timer;
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec often = {{0, 3000000}, {0, 3000000}};
    struct itimerval interval = {{0, 4000}, {0, 4000}}, off = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    assert(timer_settime(timer, 0, &often, NULL) == 0);
    assert(setitimer(ITIMER_REAL, &interval, NULL) == 0);
    pthread_create(&threads[0], NULL, works, NULL);
    pthread_create(&threads[1], NULL, works, NULL);
    pthread_create(&threads[2], NULL, waits_for_descriptor, NULL);
    pthread_create(&threads[3], NULL, waits_for_ticks, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert(setitimer(ITIMER_REAL, &off, NULL) == 0 && timer_delete(timer) == 0);
    assert(counter == 20 && ticks >= 3);
    alarm(1000);
    assert(alarm(0) > 0);
    return 0;
}
