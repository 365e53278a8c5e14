// A producer links jobs into a list under a lock; a consumer takes them out under the lock and then owns them.
// bug: the producer fills in the size after the job is in the list
//@ expect: data-race fill use
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct job {
    struct job *next;
    int size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER;
static struct job *jobs;

static void *produce(void *arg) {
    struct job *job = calloc(1, sizeof *job);
    pthread_mutex_lock(&lock);
    job->next = jobs;
    jobs = job;
    pthread_cond_signal(&posted);
    pthread_mutex_unlock(&lock);
    job->size = 512; // @fill
    return arg;
}

static struct job *take(void) {
    pthread_mutex_lock(&lock);
    while (jobs == NULL)
        pthread_cond_wait(&posted, &lock);
    struct job *job = jobs;
    jobs = job->next;
    pthread_mutex_unlock(&lock);
    return job;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, NULL, produce, NULL);
    struct job *job = take();
    int size = job->size; // @use
    assert(size == 512);
    pthread_join(producer, NULL);
    free(job);
    return 0;
}
