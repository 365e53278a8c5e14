// Main looks twice whether its time is over; another thread ends it after a while.
// bug: a second may pass between the two looks
//@ expect: atomicity-violation look stop again
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_over;

static void *end(void *unused) {
    (void)unused;
    struct timespec while_ = {1, 0};
    nanosleep(&while_, NULL);
    pthread_mutex_lock(&lock);
    is_over = true; // @stop
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void work(void) {
    pthread_mutex_lock(&lock);
    bool was_over = is_over; // @look
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    assert(is_over == was_over); // @again
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_t ender;
    pthread_create(&ender, NULL, end, NULL);
    work();
    pthread_join(ender, NULL);
    return 0;
}
