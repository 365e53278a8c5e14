// hostile: threads that are created detached, by attributes without a size for their stack, and whose stacks libc would use
// again as soon as the kernel has let go of them: addresses of their locals are part of the result
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

static sem_t finished;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t mixed;
static int count;

static void *counts(void *arg) {
    int local = 0;
    pthread_mutex_lock(&lock);
    mixed = mixed * 31 + (uintptr_t)&local;
    count++;
    pthread_mutex_unlock(&lock);
    sem_post(&finished);
    return arg;
}

int main(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sem_init(&finished, 0, 0);
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 3; i++) {
            pthread_t thread;
            assert(pthread_create(&thread, &attributes, counts, NULL) == 0);
        }
        for (int i = 0; i < 3; i++)
            sem_wait(&finished);
    }
    pthread_attr_destroy(&attributes);
    pthread_mutex_lock(&lock);
    assert(count == 18 && mixed != 0);
    pthread_mutex_unlock(&lock);
    return 0;
}
