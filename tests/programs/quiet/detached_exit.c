// Detached threads do the work; main leaves when the last of them has said, as its last step under the lock, that it
// touches nothing of main's any more.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 4 };

struct group {
    pthread_mutex_t lock;
    pthread_cond_t empty;
    int running;
    long sum;
};

struct task {
    struct group *group;
    int from, to;
};

static void enter(struct group *group) {
    pthread_mutex_lock(&group->lock);
    group->running++;
    pthread_mutex_unlock(&group->lock);
}

static void leave(struct group *group, long part) {
    pthread_mutex_lock(&group->lock);
    group->sum += part;
    if (--group->running == 0)
        pthread_cond_signal(&group->empty);
    pthread_mutex_unlock(&group->lock);
}

static void *add(void *arg) {
    struct task task = *(struct task *)arg;
    free(arg);
    long part = 0;
    for (int i = task.from; i < task.to; i++)
        part += i;
    leave(task.group, part);
    return NULL;
}

static void start(struct group *group, int from, int to) {
    struct task *task = malloc(sizeof *task);
    *task = (struct task){group, from, to};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    enter(group);
    pthread_t thread;
    int failed = pthread_create(&thread, &attributes, add, task);
    assert(!failed);
    pthread_attr_destroy(&attributes);
}

static struct group group = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static void tell(void) {
    pthread_mutex_lock(&group.lock);
    printf("sum at exit: %ld\n", group.sum);
    pthread_mutex_unlock(&group.lock);
}

int main(void) {
    atexit(tell);
    for (int i = 0; i < TASKS; i++)
        start(&group, 10 * i, 10 * (i + 1));
    pthread_mutex_lock(&group.lock);
    while (group.running > 0)
        pthread_cond_wait(&group.empty, &group.lock);
    long sum = group.sum;
    pthread_mutex_unlock(&group.lock);
    assert(sum == 10 * TASKS * (10 * TASKS - 1) / 2);
    // The threads may still be on their way out: the group is static, so the last unlock finds it.
    exit(0);
}
