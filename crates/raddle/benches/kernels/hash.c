// A hash table in sixteen stripes, each under a lock of its own: inserts, then lookups.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 2, STRIPES = 16, SLOTS = 1 << 12, KEYS = 30000, ROUNDS = 12 };

typedef struct {
    pthread_mutex_t lock;
    uint64_t keys[SLOTS];
    uint64_t values[SLOTS];
} stripe;

static stripe table[STRIPES];

static uint64_t mix(uint64_t x) {
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185;
    x ^= x >> 27;
    return x * 0x81dadef4bc2dd44d;
}

static void add(uint64_t key, uint64_t amount) {
    uint64_t hash = mix(key);
    stripe *s = &table[hash % STRIPES];
    pthread_mutex_lock(&s->lock);
    uint64_t at = hash / STRIPES % SLOTS;
    while (s->keys[at] != 0 && s->keys[at] != key)
        at = (at + 1) % SLOTS;
    s->keys[at] = key;
    s->values[at] += amount;
    pthread_mutex_unlock(&s->lock);
}

static void *work(void *argument) {
    uint64_t first = (uint64_t)argument;
    for (int round = 0; round < ROUNDS; round++)
        for (uint64_t key = 1; key <= KEYS; key++)
            add(key, first + key);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&table[i].lock, NULL);
    for (uint64_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    uint64_t sum = 0;
    for (int i = 0; i < STRIPES; i++)
        for (int j = 0; j < SLOTS; j++)
            sum += table[i].values[j];
    printf("%llu\n", (unsigned long long)sum);
}
