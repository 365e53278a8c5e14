// hostile: threads meet in memory that is mapped from a file, shared, at two addresses, and unmapped while others run
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
    pthread_mutex_t lock;
    int counter;
};

static struct shared *first, *second;

static void *counts(void *arg) {
    struct shared *it = arg;
    for (int i = 0; i < 5; i++) {
        // One lock, whichever address it is called by: the waiting is libc's if the two meet.
        pthread_mutex_lock(&first->lock);
        it->counter++;
        pthread_mutex_unlock(&first->lock);
    }
    return NULL;
}

static void *maps(void *arg) {
    for (int i = 0; i < 5; i++) {
        char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert(page != MAP_FAILED && page[0] == 0);
        page[0] = 1;
        assert(munmap(page, 4096) == 0);
    }
    return arg;
}

int main(void) {
    pthread_t threads[4];
    int fd = memfd_create("shared", 0), status;
    assert(fd >= 0 && ftruncate(fd, 4096) == 0);
    first = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    second = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert(first != MAP_FAILED && second != MAP_FAILED && first != second);
    pthread_mutex_init(&first->lock, NULL);
    pthread_create(&threads[0], NULL, counts, first);
    pthread_create(&threads[1], NULL, counts, second);
    pthread_create(&threads[2], NULL, maps, NULL);
    pthread_create(&threads[3], NULL, maps, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert(first->counter == 10 && second->counter == 10);
    pid_t child = fork();
    if (child == 0) {
        second->counter = 77;
        _exit(0);
    }
    assert(waitpid(child, &status, 0) == child && status == 0 && first->counter == 77);
    assert(msync(first, 4096, MS_SYNC) == 0);
    return 0;
}
