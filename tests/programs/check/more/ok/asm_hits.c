// Workers count hits on a page with an instruction of their own.
//@ none
#include <assert.h>
#include <pthread.h>

enum { WORKERS = 3, HITS = 2 };

static int hits;

static void hit(void) {
    __asm__ volatile("lock incl %0" : "+m"(hits) : : "cc", "memory");
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
