// A cache is given back by a handler that runs at exit; a prefetcher adds to the cache in the background.
//@ none
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

struct cache {
    atomic_int entries;
};

static _Atomic(struct cache *) cache;
static sem_t is_up;

static void give_back(void) {
    free(atomic_exchange(&cache, NULL));
}

static void *prefetch(void *arg) {
    sem_post(&is_up);
    struct cache *mine = atomic_load(&cache);
    if (mine != NULL)
        atomic_fetch_add(&mine->entries, 1);
    return arg;
}

int main(void) {
    pthread_t prefetcher;
    sem_init(&is_up, 0, 0);
    atomic_store(&cache, calloc(1, sizeof(struct cache)));
    atexit(give_back);
    pthread_create(&prefetcher, NULL, prefetch, NULL);
    sem_wait(&is_up);
    pthread_join(prefetcher, NULL);
    return 0;
}
