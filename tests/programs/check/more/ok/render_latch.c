// Three workers render a tile each and count a latch down; the owner waits for the latch and adds the tiles up.
//@ none
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { TILES = 3 };

static int tiles[TILES];
static atomic_int latch = TILES;

static void *render(void *arg) {
    int *tile = arg;
    *tile = 7;
    atomic_fetch_sub_explicit(&latch, 1, memory_order_release);
    return NULL;
}

static int picture(void) {
    while (atomic_load_explicit(&latch, memory_order_acquire) > 0)
        sched_yield();
    int sum = 0;
    for (int i = 0; i < TILES; i++)
        sum += tiles[i];
    return sum;
}

int main(void) {
    pthread_t workers[TILES];
    for (int i = 0; i < TILES; i++)
        pthread_create(&workers[i], NULL, render, &tiles[i]);
    assert(picture() == 21);
    for (int i = 0; i < TILES; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
