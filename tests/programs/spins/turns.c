// exercises: two threads that take turns by a flag, each counting in a static variable how often it looked in vain
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ROUNDS = 100 };

static atomic_int turn;
static long looks[2];
static int done;

static void *play(void *arg) {
    int me = *(int *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != me)
            looks[me]++;
        done++;
        atomic_store_explicit(&turn, 1 - me, memory_order_release);
    }
    return arg;
}

int main(void) {
    pthread_t threads[2];
    int names[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, play, &names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return done == 2 * ROUNDS ? EXIT_SUCCESS : EXIT_FAILURE;
}
