// One thread sets a limit, another uses it; both count their steps under a lock.
// bug: the steps happen to be counted in the right order, but nothing is made of the count
//@ expect: data-race set get
//@ consequence: none
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long steps;
static int limit;

static void count(void) {
    pthread_mutex_lock(&lock);
    steps++;
    pthread_mutex_unlock(&lock);
}

static void *set(void *arg) {
    limit = 10; // @set
    count();
    return arg;
}

static void *get(void *arg) {
    int *copy = arg;
    count();
    *copy = limit; // @get
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
