// hostile: signal handlers that interrupt threads which compute, hold locks, wait and sleep; sigwait in a thread of its own
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 8 };

static atomic_int handled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static sem_t woken;
static pthread_t sleeper;

static void on_signal(int number) {
    int saved = errno;
    assert(number == SIGUSR1);
    atomic_fetch_add(&handled, 1);
    if (pthread_equal(pthread_self(), sleeper))
        sem_post(&woken);
    errno = saved;
}

static void *computes(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
        if (i == ROUNDS / 2)
            raise(SIGUSR1);
    }
    return NULL;
}

static void *sleeps(void *arg) {
    (void)arg;
    struct timespec nap = {0, 2000000};
    while (atomic_load(&handled) < 4)
        nanosleep(&nap, NULL);
    return NULL;
}

static void *waits(void *arg) {
    sigset_t set;
    int got;
    (void)arg;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    assert(sigwait(&set, &got) == 0 && got == SIGUSR2);
    return NULL;
}

int main(void) {
    pthread_t threads[2], waiter;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigset_t set;
    sem_init(&woken, 0, 0);
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&sleeper, NULL, sleeps, NULL);
    pthread_create(&threads[0], NULL, computes, NULL);
    pthread_create(&threads[1], NULL, computes, NULL);
    pthread_create(&waiter, NULL, waits, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_kill(sleeper, SIGUSR1);
        while (sem_wait(&woken) != 0)
            assert(errno == EINTR);
    }
    pthread_kill(waiter, SIGUSR2);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_join(sleeper, NULL);
    pthread_join(waiter, NULL);
    assert(counter == 2 * ROUNDS && handled == 4);
    return 0;
}
