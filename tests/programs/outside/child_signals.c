// Children end and their signals come when the kernel likes: to a handler that awaits them, and to a signal descriptor
// that a thread reads.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int children;

static void on_child(int number) {
    int saved = errno;
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        children++;
    errno = saved;
}

static void *reads_signals(void *arg) {
    struct signalfd_siginfo info;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    for (ssize_t got; (got = read(fd, &info, sizeof info)) != sizeof info;)
        assert(got < 0 && errno == EINTR);
    assert(info.ssi_signo == SIGUSR1);
    return arg;
}

int main(void) {
    pthread_t reader;
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigaction(SIGCHLD, &action, NULL);
    pthread_create(&reader, NULL, reads_signals, NULL);
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            _exit(0);
    kill(getpid(), SIGUSR1);
    while (children < 2)
        sched_yield();
    pthread_join(reader, NULL);
    return 0;
}
