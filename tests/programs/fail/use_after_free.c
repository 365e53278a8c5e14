// bug: the worker reports that it has finished before its last use of the job, which main then frees
// expect: use-after-free
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct job {
    int input;
    int output;
    int times_used;
};

static sem_t finished;

static void *worker(void *arg) {
    struct job *job = arg;
    job->output = job->input * 2;
    sem_post(&finished);
    job->times_used++;
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct job *job = calloc(1, sizeof *job);
    job->input = 21;
    sem_init(&finished, 0, 0);
    pthread_create(&thread, NULL, worker, job);
    sem_wait(&finished);
    int answer = job->output;
    free(job);
    pthread_join(thread, NULL);
    return answer == 42 ? 0 : 1;
}
