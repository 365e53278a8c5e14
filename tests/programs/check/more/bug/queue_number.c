// Clerks draw numbers and stamp a shared book when their number is called: a ticket lock.
// bug: the next number is called with a relaxed store, so the next clerk need not see the last stamp
//@ expect: data-race stamp stamp
//@ consequence: none|assertion
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { CLERKS = 3, STAMPS = 2 };

static atomic_uint drawn, called;
static int book;

static void enter(void) {
    unsigned mine = atomic_fetch_add_explicit(&drawn, 1, memory_order_relaxed);
    while (atomic_load_explicit(&called, memory_order_acquire) != mine)
        sched_yield();
}

static void leave(void) {
    unsigned mine = atomic_load_explicit(&called, memory_order_relaxed);
    atomic_store_explicit(&called, mine + 1, memory_order_relaxed);
}

static void *stamp(void *arg) {
    for (int i = 0; i < STAMPS; i++) {
        enter();
        book++; // @stamp
        leave();
    }
    return arg;
}

int main(void) {
    pthread_t clerks[CLERKS];
    for (int i = 0; i < CLERKS; i++)
        pthread_create(&clerks[i], NULL, stamp, NULL);
    for (int i = 0; i < CLERKS; i++)
        pthread_join(clerks[i], NULL);
    assert(book == CLERKS * STAMPS);
    return 0;
}
