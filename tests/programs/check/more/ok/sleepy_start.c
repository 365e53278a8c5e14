// The main thread starts a server thread and gives it half a millisecond to make its table of routes.
//@ none
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct routes {
    int count;
};

static struct routes *routes;
static sem_t is_up;

static void *serve(void *arg) {
    struct routes *fresh = malloc(sizeof *fresh);
    fresh->count = 8;
    routes = fresh;
    sem_post(&is_up);
    return arg;
}

int main(void) {
    pthread_t server;
    sem_init(&is_up, 0, 0);
    pthread_create(&server, NULL, serve, NULL);
    sem_wait(&is_up);
    int count = routes->count;
    assert(count == 8);
    pthread_join(server, NULL);
    free(routes);
    return 0;
}
