// hostile: two threads keep numbers in all vector registers, across events at which they are preempted
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef TARGET
#define TARGET
#define IS_SUPPORTED 1
#define LANES 2
#endif
typedef double numbers __attribute__((vector_size(8 * LANES)));

static atomic_long shared[16];

// Each has a variable of its own, which is put into a register at once. There is no branch before the last is used: at
// branches registers are empty.
#define ALL(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define LOAD(i) \
    numbers number##i = step * (double)(atomic_fetch_add(&shared[i], 0) + first); \
    asm volatile("" : "+x"(number##i));
#define ADD(i) sum = sum * 3.0 + number##i;

TARGET static int work(int first) {
    numbers step, sum;
    double expected = 0;
    for (int lane = 0; lane < LANES; lane++) step[lane] = lane + 1;
    for (int i = 0; i < 16; i++) expected = expected * 3.0 + (i + first);
    for (int round = 0; round < 6; round++) {
        sum = step - step;
        ALL(LOAD)
        ALL(ADD)
        for (int lane = 0; lane < LANES; lane++)
            if (sum[lane] != (lane + 1) * expected) return 0;
    }
    return 1;
}

static void *start(void *first) {
    assert(work(*(int *)first));
    return 0;
}

int main(void) {
    if (!(IS_SUPPORTED)) return 0;
    pthread_t threads[2];
    int firsts[2] = {5, 900};
    for (int i = 0; i < 16; i++) shared[i] = i;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, start, &firsts[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
