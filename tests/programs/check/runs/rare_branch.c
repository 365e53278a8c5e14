// A reader keeps count of late requests without the lock that the writer of the deadline holds.
// Only a reader that comes after the writer counts anything, so one run need not show the race.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_late;
static int late_requests;

static void *serve(void *arg) {
    pthread_mutex_lock(&lock);
    int late = is_late;
    pthread_mutex_unlock(&lock);
    if (late)
        late_requests++;
    return arg;
}

static void *expire(void *arg) {
    pthread_mutex_lock(&lock);
    is_late = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t servers[2], clock;
    for (int i = 0; i < 2; i++)
        pthread_create(&servers[i], NULL, serve, NULL);
    pthread_create(&clock, NULL, expire, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(servers[i], NULL);
    pthread_join(clock, NULL);
    return 0;
}
