// A router hands packets to whatever handler is plugged in; the pointer is atomic, and set while the router starts.
// Before that packets are dropped.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct handler {
    int port;
    atomic_int packets;
};

static struct handler built_in = {.port = 53};
_Atomic(struct handler *) plugged_in;

static void *route(void *arg) {
    struct handler *handler = atomic_load(&plugged_in);
    if (handler != NULL)
        atomic_fetch_add(&handler->packets, 1);
    return arg;
}

int main(void) {
    pthread_t router;
    pthread_create(&router, NULL, route, NULL);
    atomic_store(&plugged_in, &built_in);
    pthread_join(router, NULL);
    assert(atomic_load(&built_in.packets) <= 1);
    return built_in.port == 53 ? 0 : 1;
}
