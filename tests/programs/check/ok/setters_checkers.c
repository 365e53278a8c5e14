// Several threads switch a valve and its indicator on; others check that the two agree, all under one lock.
//@ none
#include <assert.h>
#include <pthread.h>

enum { SETTERS = 4, CHECKERS = 2 };

struct panel {
    pthread_mutex_t lock;
    int valve;
    int lamp;
};

static struct panel panel = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *set(void *arg) {
    pthread_mutex_lock(&panel.lock);
    panel.valve = 1;
    panel.lamp = -1;
    pthread_mutex_unlock(&panel.lock);
    return arg;
}

static void *check(void *arg) {
    pthread_mutex_lock(&panel.lock);
    int valve = panel.valve;
    int lamp = panel.lamp;
    pthread_mutex_unlock(&panel.lock);
    assert(valve + lamp == 0);
    return arg;
}

int main(void) {
    pthread_t threads[SETTERS + CHECKERS];
    for (int i = 0; i < SETTERS + CHECKERS; i++)
        pthread_create(&threads[i], NULL, i < SETTERS ? set : check, NULL);
    for (int i = 0; i < SETTERS + CHECKERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
