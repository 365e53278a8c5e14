//@ none

// A message through a pipe says that the data is there: the kernel orders the two threads.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];
static int payload;

static void *send_it(void *arg) {
    payload = 42; // @write
    if (write(ends[1], "x", 1) != 1) {
        perror("write");
    }
    return arg;
}

static void *receive(void *arg) {
    char byte;
    int value = 0;
    if (read(ends[0], &byte, 1) == 1) {
        value = payload;
    }
    printf("%d\n", value);
    return arg;
}

int main(void) {
    pthread_t sender, receiver;
    if (pipe(ends) != 0) {
        return 1;
    }
    pthread_create(&sender, NULL, send_it, NULL);
    pthread_create(&receiver, NULL, receive, NULL);
    pthread_join(sender, NULL);
    pthread_join(receiver, NULL);
    return 0;
}
