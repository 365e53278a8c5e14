// Many short critical sections: transfers between accounts, two locks each, in a fixed order.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 2, ACCOUNTS = 64, TRANSFERS = 150000 };

typedef struct {
    pthread_mutex_t lock;
    int64_t balance;
    uint64_t version;
} account;

static account accounts[ACCOUNTS];

static void transfer(unsigned from, unsigned to, int64_t amount) {
    account *first = &accounts[from < to ? from : to];
    account *second = &accounts[from < to ? to : from];
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    accounts[from].balance -= amount;
    accounts[from].version++;
    accounts[to].balance += amount;
    accounts[to].version++;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void *work(void *argument) {
    uint32_t state = (uint32_t)(uintptr_t)argument;
    for (int i = 0; i < TRANSFERS; i++) {
        state = state * 1664525 + 1013904223;
        unsigned from = state >> 8 & (ACCOUNTS - 1), to = state >> 16 & (ACCOUNTS - 1);
        if (from != to)
            transfer(from, to, state >> 28);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < ACCOUNTS; i++)
        pthread_mutex_init(&accounts[i].lock, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 7));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int64_t sum = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        sum += accounts[i].balance;
    printf("%lld\n", (long long)sum);
}
