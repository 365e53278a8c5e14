// bug: a thread that aborts has not run yet when main returns
#include <pthread.h>
#include <stdlib.h>

static void *aborts(void *arg) {
    (void)arg;
    abort();
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, aborts, NULL);
    return 0;
}
