// The main thread starts a logger and then reads the configuration, which the logger uses.
// bug: nothing keeps the logger from using it before it is there
//@ expect: data-race set use
//@ also: null-dereference
//@ consequence: crash
#include <pthread.h>
#include <stdlib.h>

struct config {
    int level;
    int width;
};

struct config *config;
static int logged;

static void read_config(void) {
    struct config *fresh = malloc(sizeof *fresh);
    fresh->level = 3;
    fresh->width = 80;
    config = fresh; // @set
}

static void *log_something(void *arg) {
    const struct config *used = config; // @use
    logged = used->level * used->width;
    return arg;
}

int main(void) {
    pthread_t logger;
    pthread_create(&logger, NULL, log_something, NULL);
    read_config();
    pthread_join(logger, NULL);
    free(config);
    return logged == 240 ? 0 : 1;
}
