// hostile: a pool whose threads never end, an exit while they work, exit handlers that start threads and use the pool
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKERS = 3, TASKS = 12 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int open_tasks, done, late;

static void *works(void *arg) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (open_tasks == 0)
            pthread_cond_wait(&changed, &lock);
        open_tasks--;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        done++;
        pthread_cond_broadcast(&changed);
    }
    return arg;
}

static void submit_and_wait(int tasks) {
    pthread_mutex_lock(&lock);
    int goal = done + tasks;
    open_tasks += tasks;
    pthread_cond_broadcast(&changed);
    while (done < goal)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void *starts_late(void *arg) {
    submit_and_wait(2);
    late++;
    return arg;
}

static void at_the_end(void) {
    pthread_t thread;
    assert(pthread_create(&thread, NULL, starts_late, NULL) == 0);
    assert(pthread_join(thread, NULL) == 0);
    if (late != 1 || done != TASKS + 2)
        _exit(9);
}

static void *never_ends(void *arg) {
    for (;;)
        usleep(1000);
    return arg;
}

int main(void) {
    pthread_t thread;
    atexit(at_the_end);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&thread, NULL, works, NULL);
    pthread_create(&thread, NULL, never_ends, NULL);
    pthread_detach(thread);
    submit_and_wait(TASKS);
    return 0;
}
