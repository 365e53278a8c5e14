// A loader reads a configuration and then says that it is there; a server looks at it once it is.
// bug: the loader says so before it has set the pointer
//@ expect: data-race announce ask
//@ expect: data-race publish use
//@ expect: null-dereference use
//@ also: data-race
//@ consequence: crash
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct config {
    int limit;
    int depth;
};

static struct config *config;
static int ready;

static void *load(void *arg) {
    struct config *loaded = malloc(sizeof *loaded);
    loaded->limit = 4;
    loaded->depth = 2;
    ready = 1; // @announce
    config = loaded; // @publish
    return arg;
}

static void *serve(void *arg) {
    if (ready) // @ask
        printf("%d\n", config->limit); // @use
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
