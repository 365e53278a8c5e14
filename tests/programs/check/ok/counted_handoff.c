// One thread sets a limit, another uses it; both count their steps under a lock.
// fine: the limit is used only if the count says that it was set
//@ none
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long steps;
static int limit;

static long count(void) {
    pthread_mutex_lock(&lock);
    long before = steps++;
    pthread_mutex_unlock(&lock);
    return before;
}

static void *set(void *arg) {
    limit = 10;
    count();
    return arg;
}

static void *get(void *arg) {
    int *copy = arg;
    if (count() > 0)
        *copy = limit;
    return arg;
}

int main(void) {
    pthread_t setter, getter;
    int copy = 0;
    pthread_create(&setter, NULL, set, NULL);
    pthread_create(&getter, NULL, get, &copy);
    pthread_join(setter, NULL);
    pthread_join(getter, NULL);
    printf("%ld steps\n", steps);
    return 0;
}
