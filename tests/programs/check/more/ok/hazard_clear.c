// A route is looked up under a hazard pointer; the thread that replaces it frees the old one when no hazard names it.
//@ none
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct route {
    int metric;
};

static _Atomic(struct route *) current;
static _Atomic(struct route *) hazard;

static struct route *new_route(int metric) {
    struct route *route = malloc(sizeof *route);
    route->metric = metric;
    return route;
}

static void *look_up(void *arg) {
    struct route *route;
    do {
        route = atomic_load(&current);
        atomic_store(&hazard, route);
    } while (route != atomic_load(&current));
    int metric = route->metric;
    atomic_store_explicit(&hazard, NULL, memory_order_release);
    assert(metric == 10 || metric == 20);
    return arg;
}

static void *replace(void *arg) {
    struct route *old = atomic_exchange(&current, new_route(20));
    while (atomic_load(&hazard) == old)
        sched_yield();
    free(old);
    return arg;
}

int main(void) {
    pthread_t reader, admin;
    atomic_init(&current, new_route(10));
    pthread_create(&reader, NULL, look_up, NULL);
    pthread_create(&admin, NULL, replace, NULL);
    pthread_join(reader, NULL);
    pthread_join(admin, NULL);
    free(atomic_load(&current));
    return 0;
}
