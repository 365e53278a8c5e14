// bug: a thread must not run when handlers of the process's end have run: the first argument says how the
// process ends, the second whether the thread aborts if it runs between two handlers or after the last one.
// What the handlers do is no event, so only the points around them let the thread run there.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static sem_t ready, go;
static const char *forbidden;

static void runs_first(void) { setenv("STAGE", "between", 1); }
static void runs_last(void) { setenv("STAGE", "after", 1); }
static void runs_first_with(int status, void *arg) {
    (void)status;
    (void)arg;
    runs_first();
}
static void runs_last_with(int status, void *arg) {
    (void)status;
    (void)arg;
    runs_last();
}

static void *looks(void *arg) {
    (void)arg;
    sem_post(&ready);
    sem_wait(&go);
    const char *stage = getenv("STAGE");
    if (stage && strcmp(stage, forbidden) == 0)
        abort();
    return NULL;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "exit";
    forbidden = argc > 2 ? argv[2] : "between";
    sem_init(&ready, 0, 0);
    sem_init(&go, 0, 0);
    if (strcmp(way, "quick_exit") == 0) {
        at_quick_exit(runs_last);
        at_quick_exit(runs_first);
    } else if (strcmp(way, "on_exit") == 0) {
        on_exit(runs_last_with, NULL);
        on_exit(runs_first_with, NULL);
    } else {
        atexit(runs_last);
        atexit(runs_first);
    }
    pthread_t thread;
    pthread_create(&thread, NULL, looks, NULL);
    sem_wait(&ready);
    sem_post(&go);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(0);
    exit(0);
}
