// hostile: becomes a daemon: two forks, a session of its own, every descriptor closed; the daemon has threads
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *works(void *arg) {
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static int crowd(void) {
    pthread_t threads[3];
    counter = 0;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, works, NULL) != 0)
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return counter == 30 ? 0 : 1;
}

int main(void) {
    int ends[2], status;
    char told = 1;
    assert(crowd() == 0 && pipe(ends) == 0);
    pid_t child = fork();
    assert(child >= 0);
    if (child == 0) {
        setsid();
        signal(SIGHUP, SIG_IGN);
        if (fork() > 0)
            _exit(0);
        umask(0);
        if (chdir("/") != 0)
            _exit(1);
        for (int fd = 0; fd < 1024; fd++)
            if (fd != ends[1])
                close(fd);
        open("/dev/null", O_RDWR);
        told = (char)crowd();
        if (write(ends[1], &told, 1) != 1)
            _exit(1);
        _exit(0);
    }
    assert(waitpid(child, &status, 0) == child && status == 0);
    close(ends[1]);
    while (read(ends[0], &told, 1) < 0)
        assert(errno == EINTR);
    assert(told == 0);
    // Those who stay close everything as well.
    fflush(NULL);
    close_range(3, ~0U, 0);
    assert(crowd() == 0);
    return 0;
}
