// Work that looks at the clock again and again takes no longer for that, and a loop that waits for a point in time ends.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { PIECES = 600 };

static atomic_int done;
static long last[2];

static long now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void *works(void *mine) {
    for (int i = 0; i < PIECES; i++) {
        *(long *)mine = now_us();
        done++;
    }
    return NULL;
}

int main(void) {
    pthread_t workers[2];
    long began = now_us();
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, works, &last[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    assert(done == 2 * PIECES);
    for (int i = 0; i < 2; i++)
        assert(last[i] - began < 100000);
    long waited = now_us();
    while (now_us() - waited < 300000)
        ;
    return 0;
}
