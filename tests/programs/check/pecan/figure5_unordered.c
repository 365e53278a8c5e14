// PECAN, figure 5 without the order of v2 before v5: the second thread is started before the lock is taken, and then v3
// and v8 race. To show it the lock (v1) has to move behind v7 together with v3.
//@ expect: data-race v3 v8
//@ consequence: exit
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
    pthread_create(&receiver, NULL, receive, &received); // @v2
    pthread_mutex_lock(&lock); // @v1
    message = 7; // @v3
    waited++;
    pthread_mutex_unlock(&lock); // @v4
    pthread_join(receiver, NULL);
    return received == 7 && waited == 2 ? 0 : 1;
}
