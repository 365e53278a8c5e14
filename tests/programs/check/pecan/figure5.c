// PECAN, figure 5: v3 and v8 hold no common lock and no edge orders them, but they cannot be next to each other: the
// first thread starts the second one (v2) while it holds the lock, and the second has to get that lock (v6) on its way
// to v8.
//@ none
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int message;
static int waited;

static void *receive(void *arg) {
    int *received = arg; // @v5
    pthread_mutex_lock(&lock); // @v6
    waited++;
    pthread_mutex_unlock(&lock); // @v7
    *received = message; // @v8
    return NULL;
}

int main(void) {
    pthread_t receiver;
    int received = 0;
    pthread_mutex_lock(&lock); // @v1
    pthread_create(&receiver, NULL, receive, &received); // @v2
    message = 7; // @v3
    waited++;
    pthread_mutex_unlock(&lock); // @v4
    pthread_join(receiver, NULL);
    return received == 7 && waited == 2 ? 0 : 1;
}
