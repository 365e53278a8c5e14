// Transfers take both accounts' locks in any order: the second one is only tried, and if it is not free the first is
// let go and all begins again. Attempts are counted.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { ACCOUNTS = 3, THREADS = 3, EACH = 3 };

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account accounts[ACCOUNTS];
static atomic_ulong attempts;

static void lock_both(struct account *from, struct account *to) {
    for (;;) {
        atomic_fetch_add_explicit(&attempts, 1, memory_order_relaxed);
        pthread_mutex_lock(&from->lock);
        if (pthread_mutex_trylock(&to->lock) == 0)
            return;
        pthread_mutex_unlock(&from->lock);
        sched_yield();
        struct account *other = from;
        from = to;
        to = other;
    }
}

static void unlock_both(struct account *from, struct account *to) {
    pthread_mutex_unlock(&from->lock);
    pthread_mutex_unlock(&to->lock);
}

static int transfer(struct account *from, struct account *to, long amount) {
    int is_covered;
    lock_both(from, to);
    is_covered = from->balance >= amount;
    if (is_covered) {
        from->balance -= amount;
        to->balance += amount;
    }
    unlock_both(from, to);
    return is_covered;
}

static void *trade(void *arg) {
    int own = *(int *)arg, refused = 0;
    for (int i = 0; i < EACH; i++)
        refused += !transfer(&accounts[own], &accounts[(own + 1) % ACCOUNTS], 40);
    *(int *)arg = refused;
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int numbers[THREADS], refused = 0;
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].balance = 100;
    }
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, trade, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        refused += numbers[i];
    }
    for (int i = 0; i < ACCOUNTS; i++) {
        assert(accounts[i].balance >= 0);
        sum += accounts[i].balance;
        pthread_mutex_destroy(&accounts[i].lock);
    }
    assert(sum == 100 * ACCOUNTS);
    assert(atomic_load(&attempts) >= THREADS * EACH);
    printf("refused: %d, attempts: %lu\n", refused, atomic_load(&attempts));
    return 0;
}
