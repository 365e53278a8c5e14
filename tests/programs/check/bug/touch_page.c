// A thread maps a table; another touches it, so that it is in memory when it is needed.
// bug: the table need not be mapped yet; the value that is read is of no interest, the access is
//@ expect: data-race map touch
//@ expect: null-dereference touch
//@ consequence: crash
#include <pthread.h>

static int table[64] = {1};
int *mapped;

static void *map(void *arg) {
    mapped = table; // @map
    return arg;
}

static void *touch(void *arg) {
    int first = *mapped; // @touch
    (void)first;
    return arg;
}

int main(void) {
    pthread_t mapper, toucher;
    pthread_create(&mapper, NULL, map, NULL);
    pthread_create(&toucher, NULL, touch, NULL);
    pthread_join(mapper, NULL);
    pthread_join(toucher, NULL);
    return 0;
}
