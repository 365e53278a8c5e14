// hostile: a shared library with its own locks and constructor, opened at run time by host.c
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter = -1;

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
