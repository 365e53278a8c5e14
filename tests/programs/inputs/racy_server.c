// A server for two clients that counts the lines of both without a lock, and ends by itself.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int served;

static void *serve(void *arg) {
    int fd = (int)(long)arg, len;
    char line[128];
    while ((len = read(fd, line, sizeof line)) > 0) {
        served++;
        if (write(fd, line, len) != len) break;
    }
    close(fd);
    return NULL;
}

int main(int argc, char **argv) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argc > 1 ? argv[1] : "7706"))};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 16)) return perror("bind"), 1;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, serve, (void *)(long)accept(listener, NULL, NULL));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%d\n", served);
    return 0;
}
