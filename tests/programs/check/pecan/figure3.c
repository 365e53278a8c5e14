// PECAN, figure 3: the candidate (v2, v8, v5) of an atomicity violation. Withdrawing is one atomic region, by its outer
// lock, but the balance's own lock is free for a moment between the region's two uses of the balance.
//@ expect: atomicity-violation v2 v8 v5
//@ also: atomicity-violation
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t withdrawing = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 10;
static int withdrawals;

static void *withdraw(void *arg) {
    pthread_mutex_lock(&withdrawing);
    pthread_mutex_lock(&lock);
    int before = balance; // @v2
    pthread_mutex_unlock(&lock);
    withdrawals++; // @v4
    pthread_mutex_lock(&lock);
    balance = before - 4; // @v5
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&withdrawing);
    return arg;
}

static void *close_account(void *arg) {
    pthread_mutex_lock(&lock);
    balance = -100; // @v8
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t customer, bank;
    pthread_create(&customer, NULL, withdraw, NULL);
    pthread_create(&bank, NULL, close_account, NULL);
    pthread_join(customer, NULL);
    pthread_join(bank, NULL);
    assert(balance < 0);
    return withdrawals == 1 ? 0 : 1;
}
