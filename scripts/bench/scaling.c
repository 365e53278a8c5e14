// Threads that work on memory of their own and, under locks, on memory that they share. Somewhere in the middle each makes
// the same mistake once: it looks at a total in one lock region and changes it in the next.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int threads, locks, rounds, own, shared;
static pthread_mutex_t *mutex;
static long *table;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static long look(void) {
    pthread_mutex_lock(&total_lock);
    long seen = total;
    pthread_mutex_unlock(&total_lock);
    return seen;
}

static void change(long to) {
    pthread_mutex_lock(&total_lock);
    total = to;
    pthread_mutex_unlock(&total_lock);
}

static void *work(void *argument) {
    unsigned state = (unsigned)(long)argument * 2654435761u + 1;
    long *mine = calloc(64, sizeof *mine);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < own; i++) mine[(state + i) % 64] += mine[i % 64] + i;
        state = state * 1664525u + 1013904223u;
        int at = (int)(state >> 16) % locks;
        pthread_mutex_lock(&mutex[at]);
        for (int i = 0; i < shared; i++) table[at * 8 + i % 8] += round;
        pthread_mutex_unlock(&mutex[at]);
        if (round == rounds * 3 / 4) change(look() + 1);
    }
    free(mine);
    return NULL;
}

int main(int count, char **words) {
    if (count != 6) return 1;
    threads = atoi(words[1]), locks = atoi(words[2]), rounds = atoi(words[3]), own = atoi(words[4]), shared = atoi(words[5]);
    mutex = calloc(locks, sizeof *mutex);
    table = calloc(locks * 8, sizeof *table);
    for (int i = 0; i < locks; i++) pthread_mutex_init(&mutex[i], NULL);
    pthread_t *all = calloc(threads, sizeof *all);
    for (long i = 0; i < threads; i++) pthread_create(&all[i], NULL, work, (void *)i);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    assert(total == threads);
    return 0;
}
