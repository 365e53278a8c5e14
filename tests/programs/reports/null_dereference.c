// A null dereference: each access takes the lock, but the worker may come before the pointer is set.
#include <pthread.h>
#include <stdlib.h>

struct config {
    int limit;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct config *config;

static struct config *current(void) {
    pthread_mutex_lock(&lock);
    struct config *found = config;
    pthread_mutex_unlock(&lock);
    return found;
}

static void *worker(void *result) {
    *(int *)result = current()->limit;
    return NULL;
}

int main(void) {
    pthread_t thread;
    int result = 0;
    struct config *fresh = malloc(sizeof *fresh);
    fresh->limit = 10;
    pthread_create(&thread, NULL, worker, &result);
    pthread_mutex_lock(&lock);
    config = fresh;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    free(fresh);
    return result == 10 ? 0 : 1;
}
