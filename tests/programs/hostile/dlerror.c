// hostile: the text of a dlopen that failed is there until dlerror is called, whatever is called in between
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static sem_t turn;

static void *asks(void *arg) {
    assert(dlopen("libno-such-library.so", RTLD_NOW) == NULL);
    // Calls that are made nowhere else, before the text is asked for and after.
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    sem_post(&turn);
    sched_yield();
    char name[64];
    gethostname(name, sizeof name);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    char *text = dlerror();
    assert(text && strstr(text, "libno-such-library"));
    char *copy = strdup(text);
    assert(dlerror() == NULL);
    free(copy);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    sem_init(&turn, 0, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, asks, NULL);
    for (int i = 0; i < 2; i++)
        sem_wait(&turn);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
