//@ expect: data-race write read
//@ also: data-race write

// A spin lock that is given back relaxed keeps threads apart, and orders nothing.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int balance;

static void *deposit(void *arg) {
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
    }
    int before = balance; // @read
    balance = before + 1; // @write
    atomic_flag_clear_explicit(&lock, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, deposit, NULL);
    pthread_create(&other, NULL, deposit, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("%d\n", balance);
    return 0;
}
