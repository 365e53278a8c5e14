// Three workers fill a cell each, meet at a barrier made of a counter, and then read their right neighbour's cell.
// bug: arriving at the barrier is relaxed, so the cells that were filled before it need not be seen after it
//@ expect: data-race fill read
//@ consequence: none|assertion
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { WORKERS = 3 };

static int cells[WORKERS];
static atomic_int arrived;

static void meet(void) {
    atomic_fetch_add_explicit(&arrived, 1, memory_order_relaxed);
    while (atomic_load_explicit(&arrived, memory_order_acquire) < WORKERS)
        sched_yield();
}

static void *work(void *arg) {
    long me = (long)arg;
    cells[me] = (int)me + 1; // @fill
    meet();
    int right = cells[(me + 1) % WORKERS]; // @read
    assert(right == (me + 1) % WORKERS + 1);
    return NULL;
}

int main(void) {
    pthread_t workers[WORKERS];
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, (void *)i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
