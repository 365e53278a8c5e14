// An event loop: workers put what they have done on a list and wake the loop by an eventfd, which it watches with epoll,
// together with a pipe whose closed end says that no more will come.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { WORKERS = 2, JOBS = 3 };

struct job {
    struct job *next;
    int output;
};

static int wakeup, over[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *done;
static int working = WORKERS;

static void *work(void *arg) {
    for (int i = 0; i < JOBS; i++) {
        struct job *job = malloc(sizeof *job);
        job->output = i * 3;
        pthread_mutex_lock(&lock);
        job->next = done;
        done = job;
        pthread_mutex_unlock(&lock);
        uint64_t one = 1;
        ssize_t put = write(wakeup, &one, sizeof one);
        assert(put == sizeof one);
    }
    pthread_mutex_lock(&lock);
    int is_last = --working == 0;
    pthread_mutex_unlock(&lock);
    if (is_last)
        close(over[1]);
    return arg;
}

static int collect(void) {
    uint64_t times;
    if (read(wakeup, &times, sizeof times) != sizeof times)
        return 0;
    pthread_mutex_lock(&lock);
    struct job *job = done;
    done = NULL;
    pthread_mutex_unlock(&lock);
    int count = 0;
    while (job != NULL) {
        struct job *next = job->next;
        assert(job->output % 3 == 0);
        free(job);
        job = next;
        count++;
    }
    return count;
}

static void watch(int loop, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    int failed = epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event);
    assert(!failed);
}

int main(void) {
    pthread_t workers[WORKERS];
    int loop = epoll_create1(EPOLL_CLOEXEC);
    wakeup = eventfd(0, EFD_NONBLOCK);
    int failed = pipe(over);
    assert(!failed && loop >= 0 && wakeup >= 0);
    watch(loop, wakeup);
    watch(loop, over[0]);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    int collected = 0, is_over = 0;
    while (collected < WORKERS * JOBS || !is_over) {
        struct epoll_event events[2];
        int ready = epoll_wait(loop, events, 2, -1);
        assert(ready > 0 || errno == EINTR);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.fd == wakeup) {
                collected += collect();
            } else {
                is_over = 1;
                epoll_ctl(loop, EPOLL_CTL_DEL, over[0], NULL);
            }
        }
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(collected == WORKERS * JOBS && done == NULL);
    close(over[0]);
    close(wakeup);
    close(loop);
    puts("collected");
    return 0;
}
