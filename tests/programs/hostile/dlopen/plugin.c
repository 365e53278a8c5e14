// hostile: a shared library with its own locks, threads, thread-locals and constructor, opened at run time by host.c
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter = -1;
// Allocated when a thread first asks for one of them.
static __thread int own = 100;
static __thread char large[10000];
static __thread long double wide = 1;

__attribute__((constructor)) static void open_plugin(void) {
    pthread_mutex_lock(&lock);
    counter = 0;
    pthread_mutex_unlock(&lock);
}

int plugin_count(int amount) {
    pthread_mutex_lock(&lock);
    counter += amount;
    int now = counter;
    pthread_mutex_unlock(&lock);
    return now;
}

static void *adds(void *arg) {
    wide += 1;
    for (int i = 0; i < 3; i++) {
        own += plugin_count(1) > 0;
        large[9999]++;
    }
    *(int *)arg = own + large[9999] - (int)wide;
    return arg;
}

/// Threads of the library's own. Returns what their thread-locals came to.
int plugin_crowd(void) {
    pthread_t threads[2];
    int results[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, adds, &results[i]) != 0)
            abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return results[0] + results[1];
}
