// A read-write lock of a mutex and two condition variables, which lets no reader in while a writer waits. Under it: two
// accounts whose sum does not change.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { READERS = 2, WRITERS = 2, ROUNDS = 3 };

struct rw {
    pthread_mutex_t lock;
    pthread_cond_t may_read, may_write;
    int readers, writers_waiting, writing;
};

static struct rw rw = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .may_read = PTHREAD_COND_INITIALIZER,
    .may_write = PTHREAD_COND_INITIALIZER,
};
static int giro = 100, savings = 50;

static void start_reading(struct rw *rw) {
    pthread_mutex_lock(&rw->lock);
    while (rw->writing || rw->writers_waiting > 0)
        pthread_cond_wait(&rw->may_read, &rw->lock);
    rw->readers++;
    pthread_mutex_unlock(&rw->lock);
}

static void stop_reading(struct rw *rw) {
    pthread_mutex_lock(&rw->lock);
    if (--rw->readers == 0)
        pthread_cond_signal(&rw->may_write);
    pthread_mutex_unlock(&rw->lock);
}

static void start_writing(struct rw *rw) {
    pthread_mutex_lock(&rw->lock);
    rw->writers_waiting++;
    while (rw->writing || rw->readers > 0)
        pthread_cond_wait(&rw->may_write, &rw->lock);
    rw->writers_waiting--;
    rw->writing = 1;
    pthread_mutex_unlock(&rw->lock);
}

static void stop_writing(struct rw *rw) {
    pthread_mutex_lock(&rw->lock);
    rw->writing = 0;
    if (rw->writers_waiting > 0)
        pthread_cond_signal(&rw->may_write);
    else
        pthread_cond_broadcast(&rw->may_read);
    pthread_mutex_unlock(&rw->lock);
}

static void *read_accounts(void *arg) {
    int *last = arg;
    for (int i = 0; i < ROUNDS; i++) {
        start_reading(&rw);
        int first = giro;
        assert(first + savings == 150);
        *last = first;
        stop_reading(&rw);
    }
    return NULL;
}

static void *transfer(void *arg) {
    int amount = *(int *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        start_writing(&rw);
        giro -= amount;
        savings += amount;
        stop_writing(&rw);
    }
    return NULL;
}

int main(void) {
    pthread_t readers[READERS], writers[WRITERS];
    int seen[READERS], amounts[WRITERS] = {5, 7};
    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, read_accounts, &seen[i]);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, transfer, &amounts[i]);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    assert(giro == 100 - ROUNDS * 12 && savings == 50 + ROUNDS * 12);
    printf("seen last: %d %d\n", seen[0], seen[1]);
    return 0;
}
