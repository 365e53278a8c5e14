// A data race: what one thread knows by a pointer has the name of the global variable.
#include <pthread.h>
#include <stddef.h>

struct stats {
    long hits, misses;
};

static struct stats stats[2];

static void bump(long *counter) {
    *counter += 1;
}

static void *worker(void *which) {
    bump(which);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &stats[1].hits);
    stats[1].hits = 5;
    pthread_join(thread, NULL);
}
