// A server that waits with poll and answers itself; a second thread counts. It has no handler: a signal ends it
// wherever it is.
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int lines, seen;

static void *count(void *arg) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (seen == lines) pthread_cond_wait(&changed, &lock);
        seen++;
        printf("line %d\n", seen);
        fflush(stdout);
    }
    return arg;
}

int main(int argc, char **argv) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argc > 1 ? argv[1] : "7703"))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 16)) return perror("bind"), 1;
    pthread_t counter;
    pthread_create(&counter, NULL, count, NULL);
    struct pollfd fds[17] = {{.fd = listener, .events = POLLIN}};
    int open = 1;
    for (;;) {
        if (poll(fds, open, 500) <= 0) continue;
        if (fds[0].revents && open < 17) fds[open++] = (struct pollfd){.fd = accept(listener, 0, 0), .events = POLLIN};
        for (int i = 1; i < open; i++) {
            char text[128];
            int waiting = 0;
            if (!(fds[i].revents & (POLLIN | POLLHUP))) continue;
            fds[i].revents = 0;
            ioctl(fds[i].fd, FIONREAD, &waiting);
            int len = read(fds[i].fd, text, sizeof text);
            if (len <= 0) { close(fds[i].fd); fds[i--] = fds[--open]; continue; }
            if (waiting < len) return 3;
            if (write(fds[i].fd, text, len) != len) return 4;
            pthread_mutex_lock(&lock);
            lines++;
            pthread_cond_signal(&changed);
            pthread_mutex_unlock(&lock);
        }
    }
}
