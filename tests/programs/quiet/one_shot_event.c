// A one-shot event: listeners wait for it without a limit, with a limit that may pass, or only look. What passed its
// limit tries again and counts how often.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct event {
    pthread_mutex_t lock;
    pthread_cond_t fired;
    bool is_set;
    int *message;
};

static struct event event = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .fired = PTHREAD_COND_INITIALIZER,
};

static void fire(struct event *e, int *message) {
    pthread_mutex_lock(&e->lock);
    assert(!e->is_set);
    e->message = message;
    e->is_set = true;
    pthread_cond_broadcast(&e->fired);
    pthread_mutex_unlock(&e->lock);
}

static int *wait_for(struct event *e) {
    pthread_mutex_lock(&e->lock);
    while (!e->is_set)
        pthread_cond_wait(&e->fired, &e->lock);
    int *message = e->message;
    pthread_mutex_unlock(&e->lock);
    return message;
}

/// Null if the event did not come in time.
static int *wait_until(struct event *e, const struct timespec *limit) {
    int *message = NULL, error = 0;
    pthread_mutex_lock(&e->lock);
    while (!e->is_set && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&e->fired, &e->lock, limit);
    if (e->is_set)
        message = e->message;
    pthread_mutex_unlock(&e->lock);
    return message;
}

static void *listen(void *arg) {
    assert(*wait_for(&event) == 42);
    return arg;
}

static void *listen_impatiently(void *arg) {
    int *attempts = arg, *message;
    do {
        struct timespec limit;
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_nsec += 2000000;
        if (limit.tv_nsec >= 1000000000) {
            limit.tv_nsec -= 1000000000;
            limit.tv_sec++;
        }
        ++*attempts;
        message = wait_until(&event, &limit);
    } while (message == NULL);
    assert(*message == 42);
    return NULL;
}

static void *look(void *arg) {
    int *seen = arg;
    pthread_mutex_lock(&event.lock);
    if (event.is_set)
        *seen = *event.message;
    pthread_mutex_unlock(&event.lock);
    return NULL;
}

int main(void) {
    pthread_t patient, impatient, looker;
    int attempts = 0, seen = 0;
    pthread_create(&patient, NULL, listen, NULL);
    pthread_create(&impatient, NULL, listen_impatiently, &attempts);
    pthread_create(&looker, NULL, look, &seen);
    int *message = malloc(sizeof *message);
    *message = 42;
    fire(&event, message);
    pthread_join(patient, NULL);
    pthread_join(impatient, NULL);
    pthread_join(looker, NULL);
    assert(attempts >= 1);
    assert(seen == 0 || seen == 42);
    free(message);
    printf("attempts: %d, seen: %d\n", attempts, seen);
    return 0;
}
