// A table that pthread_once makes, and a cache for each thread below a key whose destructor gives back what the thread
// has counted.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, LOOKUPS = 6, SIZE = 8 };

struct cache {
    int keys[2], values[2];
    int hits, misses;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int table[SIZE];
static int times_made;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hits, misses;

static void give_back(void *pointer) {
    struct cache *cache = pointer;
    pthread_mutex_lock(&lock);
    hits += cache->hits;
    misses += cache->misses;
    pthread_mutex_unlock(&lock);
    free(cache);
}

static void make_table(void) {
    int failed = pthread_key_create(&key, give_back);
    assert(!failed);
    for (int i = 0; i < SIZE; i++)
        table[i] = i * i;
    times_made++;
}

static struct cache *own_cache(void) {
    struct cache *cache = pthread_getspecific(key);
    if (cache == NULL) {
        cache = calloc(1, sizeof *cache);
        cache->keys[0] = cache->keys[1] = -1;
        pthread_setspecific(key, cache);
    }
    return cache;
}

static int square(int number) {
    pthread_once(&once, make_table);
    struct cache *cache = own_cache();
    int slot = number % 2;
    if (cache->keys[slot] == number) {
        cache->hits++;
    } else {
        cache->misses++;
        cache->keys[slot] = number;
        cache->values[slot] = table[number];
    }
    return cache->values[slot];
}

static void *look_up(void *arg) {
    int start = *(int *)arg;
    for (int i = 0; i < LOOKUPS; i++) {
        int number = (start + i / 2) % SIZE;
        assert(square(number) == number * number);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int starts[THREADS];
    for (int i = 0; i < THREADS; i++) {
        starts[i] = 2 * i;
        pthread_create(&threads[i], NULL, look_up, &starts[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    // Destructors of keys have run when a join returns.
    assert(hits + misses == THREADS * LOOKUPS && hits == misses);
    assert(times_made == 1);
    printf("%d hits\n", hits);
    return 0;
}
