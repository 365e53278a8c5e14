// bug: a thread that was just woken aborts, unless the process ends before, in the way that the argument names
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sem_t ready, go, never;
static const char *way;

static void *aborts(void *arg) {
    (void)arg;
    sem_post(&ready);
    sem_wait(&go);
    abort();
}

static void *ends(void *arg) {
    (void)arg;
    exit(0);
}

int main(int argc, char **argv) {
    pthread_t thread, other;
    way = argc > 1 ? argv[1] : "return";
    sem_init(&ready, 0, 0);
    sem_init(&go, 0, 0);
    sem_init(&never, 0, 0);
    pthread_create(&thread, NULL, aborts, NULL);
    sem_wait(&ready);
    sem_post(&go);
    if (strcmp(way, "exit") == 0)
        exit(0);
    if (strcmp(way, "_exit") == 0)
        _exit(0);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(0);
    if (strcmp(way, "thread") == 0) {
        pthread_create(&other, NULL, ends, NULL);
        sem_wait(&never);
    }
    return 0;
}
