// Audio frames go from a decoder to a player through a ring; each side owns one of its two positions.
// bug: the position that says that a frame is there is stored relaxed, so it does not publish the frame
//@ expect: data-race put get
//@ consequence: none|assertion
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SIZE = 4, FRAMES = 6 };

static int ring[SIZE];
static atomic_uint played, decoded;

static void *decode(void *arg) {
    for (int frame = 1; frame <= FRAMES; frame++) {
        unsigned at = atomic_load_explicit(&decoded, memory_order_relaxed);
        while (at - atomic_load_explicit(&played, memory_order_acquire) == SIZE)
            sched_yield();
        ring[at % SIZE] = frame; // @put
        atomic_store_explicit(&decoded, at + 1, memory_order_relaxed);
    }
    return arg;
}

static void *play(void *arg) {
    for (int frame = 1; frame <= FRAMES; frame++) {
        unsigned at = atomic_load_explicit(&played, memory_order_relaxed);
        while (atomic_load_explicit(&decoded, memory_order_acquire) == at)
            sched_yield();
        int got = ring[at % SIZE]; // @get
        assert(got == frame);
        atomic_store_explicit(&played, at + 1, memory_order_release);
    }
    return arg;
}

int main(void) {
    pthread_t decoder, player;
    pthread_create(&decoder, NULL, decode, NULL);
    pthread_create(&player, NULL, play, NULL);
    pthread_join(decoder, NULL);
    pthread_join(player, NULL);
    return 0;
}
