// Two workers add up half of an array each; the main thread waits for them and adds their sums.
// bug: the total is built before the second worker has been waited for
//@ expect: data-race part total
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>
#include <sched.h>

enum { LENGTH = 8 };

static int numbers[LENGTH] = {3, 1, 4, 1, 5, 9, 2, 6};
static int sums[2];

static void *add_half(void *arg) {
    int half = (int)(long)arg;
    int sum = 0;
    for (int i = half * LENGTH / 2; i < (half + 1) * LENGTH / 2; i++)
        sum += numbers[i];
    sums[half] = sum; // @part
    return NULL;
}

int main(void) {
    pthread_t workers[2];
    pthread_create(&workers[1], NULL, add_half, (void *)1L);
    pthread_create(&workers[0], NULL, add_half, (void *)0L);
    pthread_join(workers[0], NULL);
    int total = sums[0];
    total += sums[1]; // @total
    pthread_join(workers[1], NULL);
    assert(total == 31);
    return 0;
}
