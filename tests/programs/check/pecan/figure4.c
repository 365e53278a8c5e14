// PECAN, figure 4: two threads of three events each, the middle ones race. To bring v2 next to v5, v3 has to move
// along.
//@ expect: data-race v2 v5
//@ consequence: none
#include <pthread.h>

struct point {
    int shared;
    int own[2];
};

struct point point;

static void *left(void *arg) {
    point.own[0] = 1; // @v1
    point.shared = 2; // @v2
    point.own[0]++; // @v3
    return arg;
}

static void *right(void *arg) {
    point.own[1] = 4; // @v4
    point.shared = 5; // @v5
    point.own[1]++; // @v6
    return arg;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, left, NULL);
    pthread_create(&threads[1], NULL, right, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return point.own[0] + point.own[1] == 7 && point.shared != 0 ? 0 : 1;
}
