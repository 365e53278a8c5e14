// A server with a thread for each connection. Clients send lines; each gets them back with a running number that
// all connections share. SIGTERM ends it by a handler that wakes the main thread out of accept.
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int served;
static volatile sig_atomic_t stop;

static void on_term(int signal) { stop = signal; }

static void *serve(void *arg) {
    int fd = (int)(long)arg, len;
    char line[128], reply[160];
    while ((len = read(fd, line, sizeof line - 1)) > 0) {
        line[len] = 0;
        pthread_mutex_lock(&lock);
        int number = ++served;
        pthread_mutex_unlock(&lock);
        int size = snprintf(reply, sizeof reply, "%d %s", number, line);
        if (write(fd, reply, size) != size) break;
    }
    close(fd);
    return NULL;
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_term};
    sigaction(SIGTERM, &action, NULL);
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argc > 1 ? argv[1] : "7701"))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 16)) return perror("bind"), 1;
    pthread_t threads[16];
    int count = 0;
    while (!stop && count < 16) {
        struct sockaddr_in peer;
        socklen_t len = sizeof peer;
        int fd = accept(listener, (struct sockaddr *)&peer, &len);
        if (fd < 0 && errno == EINTR) continue;
        if (fd < 0) return perror("accept"), 1;
        printf("connection %d from port %d\n", count, ntohs(peer.sin_port));
        pthread_create(&threads[count++], NULL, serve, (void *)(long)fd);
    }
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    printf("served %d lines on %d connections, signal %d\n", served, count, (int)stop);
    return 0;
}
