// hostile: handlers that write to a pipe, get queued values, interrupt each other and reset themselves
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static int self_pipe[2];
static atomic_int queued_sum, nested, once;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void on_pipe(int number) {
    int saved = errno;
    char byte = (char)number;
    assert(write(self_pipe[1], &byte, 1) == 1);
    errno = saved;
}

static void on_value(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    queued_sum += info->si_value.sival_int;
    if (nested++ == 0)
        raise(SIGUSR2);
}

static void on_once(int number) {
    (void)number;
    once++;
}

static void *works(void *arg) {
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *reads_pipe(void *arg) {
    char byte = 0;
    for (ssize_t got; (got = read(self_pipe[0], &byte, 1)) != 1;)
        assert(got < 0 && errno == EINTR);
    assert(byte == SIGUSR1);
    return arg;
}

int main(void) {
    pthread_t threads[3];
    struct sigaction pipes = {.sa_handler = on_pipe};
    struct sigaction value = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction reset = {.sa_handler = on_once, .sa_flags = SA_RESETHAND}, old;
    assert(pipe(self_pipe) == 0);
    sigaction(SIGUSR1, &pipes, NULL);
    sigaction(SIGUSR2, &value, NULL);
    sigaction(SIGTERM, &reset, NULL);
    signal(SIGPIPE, SIG_IGN);
    pthread_create(&threads[0], NULL, works, NULL);
    pthread_create(&threads[1], NULL, works, NULL);
    pthread_create(&threads[2], NULL, reads_pipe, NULL);
    raise(SIGUSR1);
    for (int i = 1; i <= 3; i++)
        assert(pthread_sigqueue(pthread_self(), SIGUSR2, (union sigval){.sival_int = i}) == 0);
    raise(SIGTERM);
    assert(sigaction(SIGTERM, NULL, &old) == 0 && old.sa_handler == SIG_DFL && once == 1);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 20 && queued_sum == 6 && nested == 4);
    return 0;
}
