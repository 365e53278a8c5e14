// A price and the tax on it are updated in two stages, each under the lock of its own table; the first lock is kept
// until the second table is locked, and readers do the same.
//@ none
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t price_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tax_lock = PTHREAD_MUTEX_INITIALIZER;
static int price = 100;
static int tax = 20;

static void *raise_price(void *arg) {
    pthread_mutex_lock(&price_lock);
    price = 200;
    pthread_mutex_lock(&tax_lock);
    pthread_mutex_unlock(&price_lock);
    tax = 40;
    pthread_mutex_unlock(&tax_lock);
    return arg;
}

static void *bill(void *arg) {
    pthread_mutex_lock(&price_lock);
    int net = price;
    pthread_mutex_lock(&tax_lock);
    pthread_mutex_unlock(&price_lock);
    int due = tax;
    pthread_mutex_unlock(&tax_lock);
    assert(net == 5 * due);
    return arg;
}

int main(void) {
    pthread_t seller, clerk;
    pthread_create(&seller, NULL, raise_price, NULL);
    pthread_create(&clerk, NULL, bill, NULL);
    pthread_join(seller, NULL);
    pthread_join(clerk, NULL);
    return 0;
}
