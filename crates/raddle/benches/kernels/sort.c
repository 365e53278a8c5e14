// Merge sort: each thread sorts its part, then the parts are merged.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 2, PART = 250000 };

static uint32_t numbers[THREADS * PART];
static uint32_t spare[THREADS * PART];

static void merge(uint32_t *from, size_t half, size_t len, uint32_t *to) {
    size_t left = 0, right = half;
    for (size_t at = 0; at < len; at++) {
        if (right == len || (left < half && from[left] <= from[right]))
            to[at] = from[left++];
        else
            to[at] = from[right++];
    }
}

static void sort(uint32_t *from, uint32_t *to, size_t len) {
    if (len < 2)
        return;
    size_t half = len / 2;
    sort(from, to, half);
    sort(from + half, to + half, len - half);
    merge(from, half, len, to);
    memcpy(from, to, len * sizeof *from);
}

static void *work(void *argument) {
    size_t part = (size_t)argument;
    sort(numbers + part * PART, spare + part * PART, PART);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    uint32_t state = 1;
    for (size_t i = 0; i < THREADS * PART; i++) {
        state = state * 1664525 + 1013904223;
        numbers[i] = state >> 8;
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    merge(numbers, PART, THREADS * PART, spare);
    for (size_t i = 1; i < THREADS * PART; i++)
        if (spare[i - 1] > spare[i])
            return 1;
    printf("%u\n", spare[THREADS * PART / 2]);
}
