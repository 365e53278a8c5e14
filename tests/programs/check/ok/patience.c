// Main looks twice whether its time is over; another thread ends it after a while.
// That takes an hour, and nobody keeps main from running for so long.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_over;

static void *end(void *unused) {
    (void)unused;
    struct timespec while_ = {3600, 0};
    nanosleep(&while_, NULL);
    pthread_mutex_lock(&lock);
    is_over = true;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void work(void) {
    pthread_mutex_lock(&lock);
    bool was_over = is_over;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    assert(is_over == was_over);
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_t ender;
    pthread_create(&ender, NULL, end, NULL);
    work();
    pthread_join(ender, NULL);
    return 0;
}
