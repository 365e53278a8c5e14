// A crash by `abort`, in a function that accesses nothing shared.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;

static void refuse(void) {
    abort();
}

static void *use(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    int is_ready = ready;
    pthread_mutex_unlock(&lock);
    if (!is_ready)
        refuse();
    return NULL;
}

int main(void) {
    pthread_t user;
    pthread_create(&user, NULL, use, NULL);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(user, NULL);
}
