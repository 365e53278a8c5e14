// exercises: exit() called by a thread while main waits in join and another thread runs; atexit handlers in reverse order
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static int order;
static sem_t never;

static void first_registered(void) {
    if (order != 1)
        _exit(9);
}

static void second_registered(void) {
    if (order != 0)
        _exit(8);
    order = 1;
}

static void *waits(void *arg) {
    (void)arg;
    sem_wait(&never);
    return NULL;
}

static void *leaves(void *arg) {
    (void)arg;
    exit(0);
}

int main(void) {
    pthread_t a, b;
    sem_init(&never, 0, 0);
    assert(atexit(first_registered) == 0 && atexit(second_registered) == 0);
    pthread_create(&a, NULL, waits, NULL);
    pthread_create(&b, NULL, leaves, NULL);
    pthread_join(a, NULL);
    return 7;
}
