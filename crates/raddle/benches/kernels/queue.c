// A bounded queue between two producers and two consumers, which check what they get.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { PRODUCERS = 2, CONSUMERS = 2, ITEMS = 20000, ROOM = 64, WORDS = 32 };

typedef struct {
    uint64_t words[WORDS];
} item;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static item ring[ROOM];
static unsigned head, count;
static uint64_t total;

static void fill(item *it, uint64_t seed) {
    for (int i = 0; i < WORDS; i++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        it->words[i] = seed >> 33;
    }
}

static uint64_t digest(const item *it) {
    uint64_t sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum = sum * 31 + it->words[i];
    return sum;
}

static void *produce(void *argument) {
    item it;
    for (uint64_t i = 0; i < ITEMS; i++) {
        fill(&it, i + (uint64_t)argument);
        pthread_mutex_lock(&lock);
        while (count == ROOM)
            pthread_cond_wait(&emptied, &lock);
        ring[(head + count++) % ROOM] = it;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *consume(void *argument) {
    uint64_t sum = 0;
    for (int i = 0; i < ITEMS * PRODUCERS / CONSUMERS; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0)
            pthread_cond_wait(&filled, &lock);
        item it = ring[head];
        head = (head + 1) % ROOM;
        count--;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
        sum += digest(&it);
    }
    pthread_mutex_lock(&lock);
    total += sum;
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t threads[PRODUCERS + CONSUMERS];
    for (uint64_t i = 0; i < PRODUCERS; i++)
        pthread_create(&threads[i], NULL, produce, (void *)i);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&threads[PRODUCERS + i], NULL, consume, NULL);
    for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
        pthread_join(threads[i], NULL);
    printf("%llu\n", (unsigned long long)total);
}
