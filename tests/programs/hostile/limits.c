// hostile: the program limits its own descriptors, stack, core and address space, and locks its memory
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *works(void *arg) {
    for (int i = 0; i < 10; i++) {
        char *block = malloc(1000);
        memset(block, 1, 1000);
        pthread_mutex_lock(&lock);
        counter += block[999];
        pthread_mutex_unlock(&lock);
        free(block);
    }
    return arg;
}

static void crowd(void) {
    pthread_t threads[3];
    counter = 0;
    for (int i = 0; i < 3; i++)
        assert(pthread_create(&threads[i], NULL, works, NULL) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 30);
}

int main(void) {
    struct rlimit few = {16, 16}, none = {0, 0}, stack = {1 << 20, 8 << 20};
    int fds[64], opened = 0;
    assert(setrlimit(RLIMIT_NOFILE, &few) == 0);
    while (opened < 64 && (fds[opened] = open("/dev/null", O_RDONLY)) >= 0)
        opened++;
    assert(opened < 16 && errno == EMFILE);
    crowd();
    while (opened > 0)
        close(fds[--opened]);
    assert(setrlimit(RLIMIT_CORE, &none) == 0 && setrlimit(RLIMIT_STACK, &stack) == 0);
    assert(prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_SET_NAME, "limited") == 0);
    crowd();
    return 0;
}
