// corrected: the pointer is set before the thread starts
// smallest: yes
#include <pthread.h>
#include <stdlib.h>

struct config {
    int limit;
    int used;
};

struct config *config;

static void *worker(void *arg) {
    (void)arg;
    config->used = config->limit / 2;
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct config *fresh = malloc(sizeof *fresh);
    fresh->limit = 10;
    fresh->used = 0;
    config = fresh;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return config->used == 5 ? 0 : 1;
}
