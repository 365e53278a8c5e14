// exercises: a thread that works for as long as the process lives does not keep main from ending it; two
// threads that end it at the same time agree
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long counter;

static void *works(void *arg) {
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
}

static void *ends(void *arg) {
    (void)arg;
    exit(0);
}

static void last(void) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_t worker, other;
    atexit(last);
    pthread_create(&worker, NULL, works, NULL);
    pthread_create(&other, NULL, ends, NULL);
    exit(0);
}
