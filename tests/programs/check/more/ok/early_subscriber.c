// A feed makes its list of topics when it starts; a subscriber adds its topic to the list. Both hold the feed's lock.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct topics {
    int count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
static struct topics *topics;

static void *start_feed(void *arg) {
    pthread_mutex_lock(&lock);
    topics = calloc(1, sizeof *topics);
    pthread_cond_broadcast(&started);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *subscribe(void *arg) {
    pthread_mutex_lock(&lock);
    while (topics == NULL)
        pthread_cond_wait(&started, &lock);
    topics->count++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t feed, subscriber;
    pthread_create(&feed, NULL, start_feed, NULL);
    pthread_create(&subscriber, NULL, subscribe, NULL);
    pthread_join(feed, NULL);
    pthread_join(subscriber, NULL);
    assert(topics->count == 1);
    free(topics);
    return 0;
}
