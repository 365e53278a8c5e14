// exercises: C11 atomics of every width and operation: exchange, fetch_add/sub/or/and/xor, weak and strong compare-exchange, flag, fence
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { THREADS = 3, ROUNDS = 6 };

static _Atomic uint8_t byte;
static _Atomic uint16_t half;
static _Atomic uint32_t word;
static _Atomic uint64_t wide, by_cas;
static _Atomic uint32_t bits;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static int guarded, message;
static atomic_int ready;

static void *worker(void *arg) {
    uint32_t bit = 1u << *(int *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add_explicit(&byte, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&half, 2, memory_order_acquire);
        atomic_fetch_sub_explicit(&word, 3, memory_order_release);
        atomic_fetch_add_explicit(&wide, 1ull << 40, memory_order_acq_rel);
        uint64_t seen = atomic_load_explicit(&by_cas, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&by_cas, &seen, seen * 2 + 1, memory_order_acq_rel,
                                                      memory_order_relaxed))
            ;
        uint32_t before = atomic_fetch_xor(&bits, bit);
        assert(((before & bit) != 0) == (i % 2 == 1));
        while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire))
            ;
        guarded++;
        atomic_flag_clear_explicit(&flag, memory_order_release);
    }
    atomic_fetch_or(&bits, bit);
    return NULL;
}

static void *publisher(void *arg) {
    (void)arg;
    message = 77;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS], publishing;
    int ids[THREADS];
    pthread_create(&publishing, NULL, publisher, NULL);
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    }
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        assert(message == 77);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(publishing, NULL);
    int all = THREADS * ROUNDS;
    assert(byte == all && half == 2 * all && word == (uint32_t)(-3 * all) && wide == (uint64_t)all << 40);
    assert(by_cas == (1ull << all) - 1 && bits == (1u << THREADS) - 1 && guarded == all);
    assert(atomic_exchange(&word, 5) == (uint32_t)(-3 * all) && word == 5);
    return 0;
}
