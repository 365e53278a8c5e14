// Rows of a table are smoothed in rounds. A barrier made of a mutex, a condition variable and a generation separates
// the rounds; each round reads what the neighbours wrote in the one before, without a lock.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 3 };

struct barrier {
    pthread_mutex_t lock;
    pthread_cond_t turned;
    int waiting, generation;
};

static struct barrier barrier = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .turned = PTHREAD_COND_INITIALIZER,
};
static int table[2][THREADS];
static int last_ones;

/// Whether the caller came last.
static int meet(struct barrier *b) {
    pthread_mutex_lock(&b->lock);
    int generation = b->generation;
    int last = ++b->waiting == THREADS;
    if (last) {
        b->waiting = 0;
        b->generation++;
        pthread_cond_broadcast(&b->turned);
    } else {
        while (b->generation == generation)
            pthread_cond_wait(&b->turned, &b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return last;
}

static void *smooth(void *arg) {
    int own = *(int *)arg;
    for (int round = 0; round < ROUNDS; round++) {
        int *from = table[round % 2], *to = table[(round + 1) % 2];
        int left = from[(own + THREADS - 1) % THREADS], right = from[(own + 1) % THREADS];
        to[own] = (left + right) / 2 + from[own];
        if (meet(&barrier))
            // All others wait at the next barrier until this thread gets there.
            last_ones++;
        meet(&barrier);
    }
    return NULL;
}

static void alone(int result[2][THREADS]) {
    for (int round = 0; round < ROUNDS; round++)
        for (int own = 0; own < THREADS; own++) {
            int *from = result[round % 2];
            int left = from[(own + THREADS - 1) % THREADS], right = from[(own + 1) % THREADS];
            result[(round + 1) % 2][own] = (left + right) / 2 + from[own];
        }
}

int main(void) {
    pthread_t threads[THREADS];
    int numbers[THREADS], expected[2][THREADS] = {{0}};
    for (int i = 0; i < THREADS; i++)
        expected[0][i] = table[0][i] = 10 * i + 1;
    alone(expected);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, smooth, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert(table[ROUNDS % 2][i] == expected[ROUNDS % 2][i]);
    assert(last_ones == ROUNDS);
    printf("%d rounds\n", ROUNDS);
    return 0;
}
