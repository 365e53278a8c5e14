// The main thread reads the configuration and then starts a logger, which uses it: the start of the thread orders
// them.
//@ none
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
    config = fresh;
}

static void *log_something(void *arg) {
    const struct config *used = config;
    logged = used->level * used->width;
    return arg;
}

int main(void) {
    pthread_t logger;
    read_config();
    pthread_create(&logger, NULL, log_something, NULL);
    pthread_join(logger, NULL);
    free(config);
    return logged == 240 ? 0 : 1;
}
