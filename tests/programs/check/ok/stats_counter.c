// Workers count what they handle; the totals are printed at the end. Requests are counted under a lock, bytes by an
// atomic addition.
//@ none
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { WORKERS = 3, REQUESTS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long requests;
static atomic_long bytes;

static void handle(long size) {
    pthread_mutex_lock(&lock);
    requests++;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
}

static void *work(void *arg) {
    for (int i = 0; i < REQUESTS; i++)
        handle(100 * ((long)arg + 1) + i);
    return NULL;
}

int main(void) {
    pthread_t workers[WORKERS];
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, (void *)i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%ld requests, %ld bytes\n", requests, atomic_load(&bytes));
    return 0;
}
