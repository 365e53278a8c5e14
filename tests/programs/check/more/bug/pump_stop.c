// A pump is started by one thread and stopped by another; each changes the state under the lock. In the end it has to
// stand still.
// bug: a stop that comes before the start is forgotten, and the pump runs on
//@ expect: assertion|atomicity-violation|atomic-set-violation
//@ also: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_running;

static void *start(void *arg) {
    pthread_mutex_lock(&lock);
    is_running = true;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *stop(void *arg) {
    pthread_mutex_lock(&lock);
    is_running = false;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t starter, stopper;
    pthread_create(&starter, NULL, start, NULL);
    pthread_create(&stopper, NULL, stop, NULL);
    pthread_join(starter, NULL);
    pthread_join(stopper, NULL);
    assert(!is_running);
    return 0;
}
