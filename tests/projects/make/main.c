#include "counter.h"

#include <assert.h>
#include <pthread.h>

static void *work(void *arg) {
    counter_add(step());
    store_add(step());
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    assert(throws(-1) == 1 && throws(1) == 0);
    assert(store_add(0) == 2);
    assert(counter_add(0) == 2);
    return 0;
}
