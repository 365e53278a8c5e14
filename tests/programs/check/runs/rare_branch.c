// Servers count late requests without a lock. They count only after the deadline, which they meet in the first run,
// where each thread goes on until it blocks, and hardly ever in others.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_late;
static int late_requests;
static int parsed;

static void parse(void) {
    for (int i = 0; i < 8; i++) {
        pthread_mutex_lock(&lock);
        parsed++;
        pthread_mutex_unlock(&lock);
    }
}

static void *serve(void *arg) {
    parse();
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
