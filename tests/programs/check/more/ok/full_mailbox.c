// Two senders put letters into a box with room for one, which a carrier empties; a letter for a full box is refused.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_full;
static int carried;

static bool put(void) {
    pthread_mutex_lock(&lock);
    if (is_full) {
        pthread_mutex_unlock(&lock);
        return false;
    }
    is_full = true;
    pthread_mutex_unlock(&lock);
    return true;
}

static void *send(void *arg) {
    put();
    return arg;
}

static void *carry(void *arg) {
    pthread_mutex_lock(&lock);
    carried += is_full;
    is_full = false;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t first, carrier, second;
    pthread_create(&first, NULL, send, NULL);
    pthread_create(&carrier, NULL, carry, NULL);
    pthread_create(&second, NULL, send, NULL);
    pthread_join(first, NULL);
    pthread_join(carrier, NULL);
    pthread_join(second, NULL);
    assert(carried <= 1);
    return 0;
}
