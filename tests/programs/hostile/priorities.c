// hostile: threads that choose processors, policies, priorities and names of their own, and ask where they run
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static atomic_int ready;
static int counter;
static pthread_mutex_t lock;

static void *pinned(void *arg) {
    cpu_set_t one, now;
    char name[16];
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    assert(sched_setaffinity(0, sizeof one, &one) == 0);
    assert(pthread_getaffinity_np(pthread_self(), sizeof now, &now) == 0 && CPU_COUNT(&now) == 1);
    assert(pthread_setname_np(pthread_self(), "pinned") == 0);
    assert(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, "pinned") == 0);
    ready++;
    // The others may share this processor: only a yield lets them in.
    while (ready < 3)
        sched_yield();
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *lowly(void *arg) {
    struct sched_param none = {0}, now;
    int policy;
    assert(pthread_setschedparam(pthread_self(), SCHED_BATCH, &none) == 0);
    assert(pthread_getschedparam(pthread_self(), &policy, &now) == 0 && policy == SCHED_BATCH);
    errno = 0;
    assert(nice(1) != -1 || errno == 0);
    setpriority(PRIO_PROCESS, 0, 5);
    pthread_setschedprio(pthread_self(), 0);
    return pinned(arg);
}

/// A real-time thread, where that is allowed, with a lock that inherits its priority.
static void *urgent(void *arg) {
    struct sched_param high = {.sched_priority = 1};
    int result = pthread_setschedparam(pthread_self(), SCHED_FIFO, &high);
    assert(result == 0 || result == EPERM);
    return pinned(arg);
}

int main(void) {
    pthread_t threads[3];
    pthread_attr_t attributes;
    pthread_mutexattr_t kind;
    struct sched_param none = {0};
    cpu_set_t all;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &kind);
    assert(sched_getaffinity(0, sizeof all, &all) == 0 && CPU_COUNT(&all) > 0);
    assert(sysconf(_SC_NPROCESSORS_ONLN) > 0);
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    pthread_attr_setschedparam(&attributes, &none);
    pthread_attr_setaffinity_np(&attributes, sizeof all, &all);
    assert(pthread_create(&threads[0], &attributes, pinned, NULL) == 0);
    assert(pthread_create(&threads[1], &attributes, lowly, NULL) == 0);
    assert(pthread_create(&threads[2], NULL, urgent, NULL) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 3);
    return 0;
}
