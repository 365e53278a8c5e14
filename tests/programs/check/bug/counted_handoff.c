// A setter publishes a limit, then both threads count what they have done under one lock.
// bug: the reader takes the limit for published because of the order of the counted sections, which nothing ensures
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

static void *setter(void *arg) {
    limit = 10; // @set
    count();
    return arg;
}

static void *getter(void *arg) {
    count();
    int *copy = arg;
    *copy = limit; // @get
    return arg;
}

int main(void) {
    pthread_t threads[2];
    int copy = 0;
    pthread_create(&threads[0], NULL, setter, NULL);
    pthread_create(&threads[1], NULL, getter, &copy);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("%ld steps\n", steps);
    return 0;
}
