// exercises: pthread_barrier reused over rounds, exactly one serial thread a round, phases that must not mix
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 5 };

static pthread_barrier_t barrier;
static int cells[2][THREADS];
static atomic_int serials;

static void *worker(void *arg) {
    int me = *(int *)arg;
    for (int round = 0; round < ROUNDS; round++) {
        int *now = cells[round % 2], *next = cells[(round + 1) % 2];
        next[me] = now[me] + now[(me + 1) % THREADS];
        int result = pthread_barrier_wait(&barrier);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD)
            atomic_fetch_add(&serials, 1);
        else
            assert(result == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int ids[THREADS];
    assert(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        cells[0][i] = 1;
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert(cells[ROUNDS % 2][i] == 1 << ROUNDS);
    assert(serials == ROUNDS);
    assert(pthread_barrier_destroy(&barrier) == 0);
    return 0;
}
