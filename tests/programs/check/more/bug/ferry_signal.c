// Cars wait for a ferry and share one condition with the harbour master, who waits until a car has driven on board.
// bug: the ferry wakes one waiter, and that may be the one that can do nothing with it
//@ expect: deadlock
//@ consequence: deadlock
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool has_landed, has_boarded;

static void tell(void) {
    pthread_cond_signal(&changed);
}

static void *drive(void *arg) {
    pthread_mutex_lock(&lock);
    while (!has_landed)
        pthread_cond_wait(&changed, &lock);
    has_boarded = true;
    tell();
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *watch(void *arg) {
    pthread_mutex_lock(&lock);
    while (!has_boarded)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *land(void *arg) {
    pthread_mutex_lock(&lock);
    has_landed = true;
    tell();
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t car, master, ferry;
    pthread_create(&car, NULL, drive, NULL);
    pthread_create(&master, NULL, watch, NULL);
    pthread_create(&ferry, NULL, land, NULL);
    pthread_join(car, NULL);
    pthread_join(master, NULL);
    pthread_join(ferry, NULL);
    assert(has_boarded);
    return 0;
}
