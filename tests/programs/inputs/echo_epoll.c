#define _GNU_SOURCE
// A server with one thread that waits with epoll and hands lines to workers through a pipe; a signal is received
// with signalfd.
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct job { int fd, len; char text[120]; };
static int jobs[2], finished;
static int answered;

static void *work(void *arg) {
    struct job job;
    while (read(jobs[0], &job, sizeof job) == sizeof job) {
        int number = __atomic_add_fetch(&answered, 1, __ATOMIC_SEQ_CST);
        char reply[160];
        int size = snprintf(reply, sizeof reply, "%d %.*s", number, job.len, job.text);
        if (send(job.fd, reply, size, MSG_NOSIGNAL) != size) break;
        unsigned long long one = 1;
        if (write(finished, &one, sizeof one) != sizeof one) break;
    }
    return arg;
}

static void watch(int epoll, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

int main(int argc, char **argv) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argc > 1 ? argv[1] : "7702"))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 16)) return perror("bind"), 1;
    int epoll = epoll_create1(EPOLL_CLOEXEC), signals = signalfd(-1, &set, SFD_CLOEXEC);
    finished = eventfd(0, EFD_NONBLOCK);
    if (pipe(jobs)) return 1;
    pthread_t workers[2];
    for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, work, NULL);
    watch(epoll, listener), watch(epoll, signals), watch(epoll, finished);
    unsigned long long done = 0, more;
    for (int stop = 0; !stop;) {
        struct epoll_event events[4];
        int count = epoll_wait(epoll, events, 4, 1000);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == signals) stop = 1;
            else if (fd == finished) { if (read(finished, &more, sizeof more) == sizeof more) done += more; }
            else if (fd == listener) watch(epoll, accept4(listener, NULL, NULL, SOCK_CLOEXEC));
            else {
                struct job job = {.fd = fd};
                job.len = recv(fd, job.text, sizeof job.text, 0);
                if (job.len <= 0) close(fd);
                else if (write(jobs[1], &job, sizeof job) != sizeof job) return 1;
            }
        }
    }
    close(jobs[1]);
    for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
    if (read(finished, &more, sizeof more) == sizeof more) done += more;
    printf("answered %d, told of %llu\n", answered, done);
    return 0;
}
