// The shape of TAME's figure 3: of three branches that look alike one depends on the schedule.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x, y;

static void *second(void *nothing) {
    pthread_mutex_lock(&lock);
    int seen = x;
    if (seen + 2 > y) // sensitive
        puts("x");
    y = 1;
    pthread_mutex_unlock(&lock);
    return nothing;
}

int main(void) {
    pthread_t thread;
    // Nothing runs beside it yet.
    if (x > y)
        puts("input");
    x = 1;
    pthread_create(&thread, 0, second, 0);
    pthread_mutex_lock(&lock);
    // The other thread makes y at most 1, which is not more than x.
    if (x + 1 > y)
        y = 3;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
