// The main thread starts a server thread and gives it half a millisecond to make its table of routes.
// bug: the server may take longer
//@ expect: null-dereference|data-race
//@ also: null-dereference
//@ also: data-race
//@ also: use-after-free
//@ consequence: crash
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct routes {
    int count;
};

static struct routes *routes;

static void *serve(void *arg) {
    struct routes *fresh = malloc(sizeof *fresh);
    fresh->count = 8;
    routes = fresh;
    return arg;
}

int main(void) {
    pthread_t server;
    pthread_create(&server, NULL, serve, NULL);
    usleep(500);
    int count = routes->count;
    assert(count == 8);
    pthread_join(server, NULL);
    free(routes);
    return 0;
}
