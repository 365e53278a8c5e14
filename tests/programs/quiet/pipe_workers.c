// Jobs go to workers as pointers through a pipe, answers come back by an eventfd and a list, and the dispatcher polls.
// The pipe's closed end tells the workers to go home.
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { WORKERS = 2, JOBS = 5 };

struct job {
    struct job *next;
    int input, output;
};

static int jobs[2], wakeup;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *done;

static void *work(void *arg) {
    struct job *job;
    for (;;) {
        ssize_t got = read(jobs[0], &job, sizeof job);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            return arg;
        assert(got == sizeof job);
        job->output = job->input * 3;
        pthread_mutex_lock(&lock);
        job->next = done;
        done = job;
        pthread_mutex_unlock(&lock);
        uint64_t one = 1;
        ssize_t put = write(wakeup, &one, sizeof one);
        assert(put == sizeof one);
    }
}

static int collect(void) {
    int count = 0;
    pthread_mutex_lock(&lock);
    struct job *job = done;
    done = NULL;
    pthread_mutex_unlock(&lock);
    while (job != NULL) {
        struct job *next = job->next;
        assert(job->output == job->input * 3);
        free(job);
        job = next;
        count++;
    }
    return count;
}

int main(void) {
    pthread_t workers[WORKERS];
    int failed = pipe(jobs);
    assert(!failed);
    wakeup = eventfd(0, EFD_NONBLOCK);
    assert(wakeup >= 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < JOBS; i++) {
        struct job *job = malloc(sizeof *job);
        job->input = i;
        ssize_t put = write(jobs[1], &job, sizeof job);
        assert(put == sizeof job);
    }
    int collected = 0, rounds = 0;
    while (collected < JOBS) {
        struct pollfd poller = {.fd = wakeup, .events = POLLIN};
        int ready = poll(&poller, 1, -1);
        assert(ready == 1 || errno == EINTR);
        uint64_t count;
        if (read(wakeup, &count, sizeof count) == sizeof count)
            collected += collect();
        rounds++;
    }
    close(jobs[1]);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(collected == JOBS && done == NULL);
    close(jobs[0]);
    close(wakeup);
    printf("collected in %d rounds\n", rounds);
    return 0;
}
