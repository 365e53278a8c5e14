// The owner sleeps until a worker reports that it is done.
// bug: the owner looks at the flag before it takes the lock; a report in between wakes nobody
//@ expect: deadlock
//@ consequence: deadlock
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t reported = PTHREAD_COND_INITIALIZER;
static atomic_bool done;
static int result;

static void *work(void *arg) {
    int *input = arg;
    result = *input * *input;
    pthread_mutex_lock(&lock);
    atomic_store(&done, true);
    pthread_cond_signal(&reported);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void wait_for_report(void) {
    if (!atomic_load(&done)) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&reported, &lock);
        pthread_mutex_unlock(&lock);
    }
}

int main(void) {
    pthread_t worker;
    int input = 12;
    pthread_create(&worker, NULL, work, &input);
    wait_for_report();
    assert(result == 144);
    pthread_join(worker, NULL);
    return 0;
}
