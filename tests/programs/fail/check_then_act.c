// bug: the balance is checked under the lock, which is released before the withdrawal takes it again
// expect: assertion
// smallest: yes
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 50;

static int covers(int amount) {
    pthread_mutex_lock(&lock);
    int enough = balance >= amount;
    pthread_mutex_unlock(&lock);
    return enough;
}

static void *withdraw(void *arg) {
    int amount = *(int *)arg;
    if (covers(amount)) {
        pthread_mutex_lock(&lock);
        balance -= amount;
        assert(balance >= 0);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    static int amount = 30;
    pthread_t other;
    pthread_create(&other, NULL, withdraw, &amount);
    withdraw(&amount);
    pthread_join(other, NULL);
    return 0;
}
