// bug: a refill that comes early counts without a lock; in the order of their creation the two never meet there
// expect: assertion
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stocked;
static atomic_int early;
static int count;

static void add(void) {
    count = count + 1;
}

static void *stock(void *arg) {
    add();
    atomic_store(&stocked, 1);
    return arg;
}

static void *refill(void *arg) {
    if (!atomic_load(&stocked)) {
        atomic_store(&early, 1);
        add();
    }
    return arg;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, stock, NULL);
    pthread_create(&second, NULL, refill, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(count == 1 + early);
    return 0;
}
