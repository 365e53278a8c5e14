// corrected: check and withdrawal share one lock region
// smallest: yes
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 50;

static void *withdraw(void *arg) {
    int amount = *(int *)arg;
    pthread_mutex_lock(&lock);
    if (balance >= amount) {
        balance -= amount;
        assert(balance >= 0);
    }
    pthread_mutex_unlock(&lock);
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
