// PECAN, figure 1: three races on two variables, the last of which leads to the error. The yields make the recorded run
// that of the paper, <1, 5, 2, 3, 6, 7>.
//@ expect: data-race 2 5
//@ expect: data-race 2 6
//@ expect: data-race 3 7
//@ consequence: crash
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

int x;
int y;

static void *first(void *arg) {
    int *rounds = arg;
    *rounds = 1; // @1
    sched_yield();
    x = 1; // @2
    if (y == 1) // @3
        abort(); // @4
    return NULL;
}

static void *second(void *arg) {
    x = 0; // @5
    sched_yield();
    if (x == 1) // @6
        y = 1; // @7
    return arg;
}

int main(void) {
    pthread_t threads[2];
    int rounds;
    pthread_create(&threads[0], NULL, first, &rounds);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
