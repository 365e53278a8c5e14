// Readers pin a page of a cache while they use it; the evictor takes a page only if no reader has it pinned.
// bug: the evictor looks at the pins and then marks the page evicted; a reader may pin it in between
//@ expect: atomicity-violation|assertion|atomic-set-violation
//@ also: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { EVICTED = -1 };

/// Readers that use the page, or EVICTED.
static atomic_int pins;
static atomic_bool is_gone;

static void *read_page(void *arg) {
    int seen = atomic_load(&pins);
    while (seen != EVICTED)
        if (atomic_compare_exchange_strong(&pins, &seen, seen + 1)) {
            assert(!atomic_load(&is_gone));
            atomic_fetch_sub(&pins, 1);
            break;
        }
    return arg;
}

static void *evict(void *arg) {
    if (atomic_load(&pins) == 0) {
        atomic_store(&pins, EVICTED);
        atomic_store(&is_gone, true);
    }
    return arg;
}

int main(void) {
    pthread_t reader, evictor;
    pthread_create(&reader, NULL, read_page, NULL);
    pthread_create(&evictor, NULL, evict, NULL);
    pthread_join(reader, NULL);
    pthread_join(evictor, NULL);
    return 0;
}
