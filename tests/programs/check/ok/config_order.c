// A loader reads a configuration and then says that it is there; a server looks at it once it is.
//@ none
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct config {
    int limit;
    int depth;
};

static struct config *config;
static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *load(void *arg) {
    struct config *loaded = malloc(sizeof *loaded);
    loaded->limit = 4;
    loaded->depth = 2;
    pthread_mutex_lock(&lock);
    ready = 1;
    config = loaded;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *serve(void *arg) {
    pthread_mutex_lock(&lock);
    if (ready)
        printf("%d\n", config->limit);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t loader, server;
    pthread_create(&loader, NULL, load, NULL);
    pthread_create(&server, NULL, serve, NULL);
    pthread_join(loader, NULL);
    pthread_join(server, NULL);
    free(config);
    return 0;
}
