// hostile: threads on memory that the program gave them, on the smallest stacks allowed, with guards of odd sizes
#define _GNU_SOURCE
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { OWN = 256 << 10 };

static char buffer[OWN] __attribute__((aligned(4096)));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int within;

/// Counts the threads whose frames lie in the memory that they were given.
static void *looks(void *arg) {
    char here[1024], *low = arg;
    memset(here, 1, sizeof here);
    pthread_mutex_lock(&lock);
    within += !low || (here >= low && here < low + OWN);
    pthread_mutex_unlock(&lock);
    return here[17] == 1 ? arg : NULL;
}

int main(void) {
    char *places[3] = {buffer, aligned_alloc(4096, OWN), NULL};
    places[2] = mmap(NULL, OWN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // Each memory serves a second thread when the first has been joined.
    for (int round = 0; round < 2; round++) {
        pthread_t threads[5];
        void *told;
        for (int i = 0; i < 5; i++) {
            pthread_attr_t attributes;
            pthread_attr_init(&attributes);
            if (i < 3) {
                assert(pthread_attr_setstack(&attributes, places[i], OWN) == 0);
            } else {
                assert(pthread_attr_setstacksize(&attributes, i == 3 ? PTHREAD_STACK_MIN + 4096 : 3 << 20) == 0);
                assert(pthread_attr_setguardsize(&attributes, i == 3 ? 0 : 12345) == 0);
            }
            assert(pthread_create(&threads[i], &attributes, looks, i < 3 ? places[i] : NULL) == 0);
            pthread_attr_destroy(&attributes);
        }
        for (int i = 0; i < 5; i++)
            assert(pthread_join(threads[i], &told) == 0 && told == (i < 3 ? places[i] : NULL));
    }
    assert(within == 10);
    free(places[1]);
    munmap(places[2], OWN);
    return 0;
}
