// Workers count hits on a page with an instruction of their own.
// bug: the instruction adds to memory without the lock prefix, so a hit of another processor may be lost
//@ expect: data-race|atomicity-violation|assertion
#include <assert.h>
#include <pthread.h>

enum { WORKERS = 3, HITS = 2 };

static int hits;

static void hit(void) {
    __asm__ volatile("incl %0" : "+m"(hits) : : "cc", "memory"); // @hit
}

static void *work(void *arg) {
    for (int i = 0; i < HITS; i++)
        hit();
    return arg;
}

int main(void) {
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(hits == WORKERS * HITS);
    return 0;
}
