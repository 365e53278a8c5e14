// Readers announce themselves by a count and read without the lock; the writer changes the pair when nobody reads,
// and keeps the lock, so that nobody can begin to.
//@ none
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t nobody_reads = PTHREAD_COND_INITIALIZER;
static int readers;
static int low = 10;
static int high = 20;

static void begin_reading(void) {
    pthread_mutex_lock(&lock);
    readers++;
    pthread_mutex_unlock(&lock);
}

static void end_reading(void) {
    pthread_mutex_lock(&lock);
    if (--readers == 0)
        pthread_cond_signal(&nobody_reads);
    pthread_mutex_unlock(&lock);
}

static void *measure(void *arg) {
    begin_reading();
    int from = low;
    int to = high;
    end_reading();
    assert(to - from == 10);
    return arg;
}

static void *shift(void *arg) {
    pthread_mutex_lock(&lock);
    while (readers > 0)
        pthread_cond_wait(&nobody_reads, &lock);
    low += 100;
    high += 100;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t reader, other, writer;
    pthread_create(&reader, NULL, measure, NULL);
    pthread_create(&other, NULL, measure, NULL);
    pthread_create(&writer, NULL, shift, NULL);
    pthread_join(reader, NULL);
    pthread_join(other, NULL);
    pthread_join(writer, NULL);
    return 0;
}
