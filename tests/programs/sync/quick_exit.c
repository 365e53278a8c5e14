// exercises: quick_exit with at_quick_exit handlers, and not atexit's, while another thread holds a lock
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ran;

static void at_exit(void) {
    _exit(9);
}

static void at_quick(void) {
    ran++;
    _exit(ran == 1 ? 0 : 8);
}

static void *holds(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 3; i++)
        sched_yield();
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    assert(atexit(at_exit) == 0 && at_quick_exit(at_quick) == 0);
    pthread_create(&thread, NULL, holds, NULL);
    sched_yield();
    quick_exit(7);
}
