// Routes are read without a lock; an update makes a copy, publishes it and waits until each reader has passed a
// quiescent state, or is gone, before it frees the old one.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { READERS = 2, LOOKUPS = 5, UPDATES = 2, OFFLINE = 0 };

struct routes {
    int version;
    int first_hop, second_hop;
};

static _Atomic(struct routes *) current;
static atomic_ulong period = 1;
// The period that a reader has seen last, in a quiescent state.
static atomic_ulong seen[READERS];

static void quiescent(int reader) {
    atomic_store(&seen[reader], atomic_load(&period));
}

static void offline(int reader) {
    atomic_store(&seen[reader], OFFLINE);
}

static int synchronize(void) {
    unsigned long target = atomic_fetch_add(&period, 1) + 1;
    int waits = 0;
    for (int i = 0; i < READERS; i++)
        for (;;) {
            unsigned long last = atomic_load(&seen[i]);
            if (last == OFFLINE || last >= target)
                break;
            waits++;
            sched_yield();
        }
    return waits;
}

static void *look_up(void *arg) {
    int own = *(int *)arg, last = 0;
    quiescent(own);
    for (int i = 0; i < LOOKUPS; i++) {
        struct routes *routes = atomic_load(&current);
        assert(routes->first_hop == routes->version * 10);
        assert(routes->second_hop == routes->version * 20);
        assert(routes->version >= last);
        last = routes->version;
        quiescent(own);
    }
    offline(own);
    return NULL;
}

static struct routes *make(int version) {
    struct routes *routes = malloc(sizeof *routes);
    *routes = (struct routes){version, version * 10, version * 20};
    return routes;
}

static void *update(void *arg) {
    int *waits = arg;
    for (int i = 0; i < UPDATES; i++) {
        struct routes *old = atomic_load_explicit(&current, memory_order_relaxed);
        atomic_store(&current, make(old->version + 1));
        *waits += synchronize();
        free(old);
    }
    return NULL;
}

int main(void) {
    pthread_t readers[READERS], updater;
    int numbers[READERS], waits = 0;
    atomic_store(&current, make(1));
    for (int i = 0; i < READERS; i++) {
        numbers[i] = i;
        pthread_create(&readers[i], NULL, look_up, &numbers[i]);
    }
    pthread_create(&updater, NULL, update, &waits);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    pthread_join(updater, NULL);
    assert(atomic_load(&current)->version == 1 + UPDATES);
    free(atomic_load(&current));
    printf("waited %d times\n", waits);
    return 0;
}
