// A service is stopped by a signal: the handler only sets an atomic flag and writes a byte into a pipe; a supervisor
// reads the byte and wakes the workers by a condition variable.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { WORKERS = 2 };

static atomic_bool was_asked;
static int bell[2];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_stopping;
static int pending = 4, served;

static void ask_to_stop(int signal) {
    (void)signal;
    int saved = errno;
    atomic_store(&was_asked, true);
    char byte = 's';
    ssize_t put = write(bell[1], &byte, 1);
    (void)put;
    errno = saved;
}

static void *serve(void *arg) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (pending == 0 && !is_stopping)
            pthread_cond_wait(&changed, &lock);
        // What is pending is served even if the service is stopping.
        if (pending == 0)
            break;
        pending--;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        served++;
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *supervise(void *arg) {
    char byte;
    ssize_t got;
    while ((got = read(bell[0], &byte, 1)) < 0)
        assert(errno == EINTR);
    assert(got == 1 && byte == 's');
    assert(atomic_load(&was_asked));
    pthread_mutex_lock(&lock);
    is_stopping = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t workers[WORKERS], supervisor;
    int failed = pipe(bell);
    assert(!failed);
    struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    pthread_create(&supervisor, NULL, supervise, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, serve, NULL);
    raise(SIGTERM);
    pthread_join(supervisor, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(served == 4 && pending == 0);
    close(bell[0]);
    close(bell[1]);
    puts("stopped");
    return 0;
}
