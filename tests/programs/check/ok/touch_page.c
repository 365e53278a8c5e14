// A thread maps a table; another touches it, so that it is in memory when it is needed.
//@ none
#include <pthread.h>

static int table[64] = {1};
int *mapped;

static void *map(void *arg) {
    mapped = table;
    return arg;
}

static void *touch(void *arg) {
    int first = *mapped;
    (void)first;
    return arg;
}

int main(void) {
    pthread_t mapper, toucher;
    pthread_create(&mapper, NULL, map, NULL);
    pthread_join(mapper, NULL);
    pthread_create(&toucher, NULL, touch, NULL);
    pthread_join(toucher, NULL);
    return 0;
}
