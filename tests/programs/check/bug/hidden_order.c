// One worker sets a total that another one shows, each if a message has arrived in its pipe. That the messages
// have to be sent first shows in no access: a worker that comes too early does nothing.
// bug: the total has no lock
//@ expect: data-race set get
//@ consequence: none
//@ proved: maximal
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int total;
static int ends[2][2];

static void *deliver(void *unused) {
    (void)unused;
    for (int to = 0; to < 2; to++) {
        int count = to + 1;
        if (write(ends[to][1], &count, sizeof count) != sizeof count) return NULL;
    }
    return NULL;
}

static int has_message(int end) {
    int count;
    return read(end, &count, sizeof count) == sizeof count;
}

static void *add(void *unused) {
    (void)unused;
    if (has_message(ends[0][0])) total = 1; // @set
    return NULL;
}

static void *show(void *unused) {
    (void)unused;
    if (has_message(ends[1][0])) printf("%d\n", total); // @get
    return NULL;
}

int main(void) {
    pthread_t sender, adder, shower;
    for (int at = 0; at < 2; at++)
        if (pipe2(ends[at], O_NONBLOCK) != 0) return 1;
    pthread_create(&sender, NULL, deliver, NULL);
    pthread_create(&adder, NULL, add, NULL);
    pthread_create(&shower, NULL, show, NULL);
    pthread_join(adder, NULL);
    pthread_join(shower, NULL);
    pthread_join(sender, NULL);
    return 0;
}
