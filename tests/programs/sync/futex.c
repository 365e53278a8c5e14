// exercises: futex through syscall(): a three-state mutex, FUTEX_WAIT with timeout and stale value, FUTEX_WAKE counts, FUTEX_WAIT_BITSET, FUTEX_CMP_REQUEUE
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 8 };

static _Atomic uint32_t lock, gate, second_gate;
static int counter;

static long futex(_Atomic uint32_t *word, int op, uint32_t value, void *timeout, void *other, uint32_t value3) {
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, timeout, other, value3);
}

static void take(void) {
    uint32_t free_ = 0;
    if (atomic_compare_exchange_strong(&lock, &free_, 1))
        return;
    while (atomic_exchange(&lock, 2) != 0)
        futex(&lock, FUTEX_WAIT, 2, NULL, NULL, 0);
}

static void give(void) {
    if (atomic_exchange(&lock, 0) == 2)
        futex(&lock, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *worker(void *arg) {
    (void)arg;
    while (atomic_load(&gate) == 0)
        futex(&gate, FUTEX_WAIT_BITSET, 0, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
    for (int i = 0; i < ROUNDS; i++) {
        take();
        counter++;
        give();
    }
    return NULL;
}

static void *requeued(void *arg) {
    (void)arg;
    while (atomic_load(&second_gate) == 0) {
        long result = futex(&gate, FUTEX_WAIT, 1, NULL, NULL, 0);
        assert(result == 0 || errno == EAGAIN || errno == EINTR);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    atomic_store(&gate, 1);
    long woken = futex(&gate, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    assert(woken >= 0 && woken <= THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == THREADS * ROUNDS && lock == 0);

    assert(futex(&lock, FUTEX_WAIT, 1, NULL, NULL, 0) == -1 && errno == EAGAIN);
    struct timespec brief = {0, 2000000};
    assert(futex(&lock, FUTEX_WAIT, 0, &brief, NULL, 0) == -1 && errno == ETIMEDOUT);
    assert(futex(&lock, FUTEX_WAKE, 1, NULL, NULL, 0) == 0);

    pthread_create(&threads[0], NULL, requeued, NULL);
    pthread_create(&threads[1], NULL, requeued, NULL);
    long moved = futex(&gate, FUTEX_CMP_REQUEUE, 0, (void *)(uintptr_t)INT32_MAX, &second_gate, 1);
    assert(moved >= 0 && moved <= 2);
    atomic_store(&second_gate, 1);
    atomic_store(&gate, 2);
    futex(&second_gate, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    futex(&gate, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
