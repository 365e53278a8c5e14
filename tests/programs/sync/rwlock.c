// exercises: pthread_rwlock: readers together, writers alone, tryrdlock, trywrlock, timed and clock variants
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { READERS = 2, WRITERS = 2, ROUNDS = 6 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int left, right;
static atomic_int readers_inside, writers_inside;

static void *reader(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2 == 0 || pthread_rwlock_tryrdlock(&lock) != 0)
            assert(pthread_rwlock_rdlock(&lock) == 0);
        atomic_fetch_add(&readers_inside, 1);
        assert(atomic_load(&writers_inside) == 0);
        assert(left == right);
        atomic_fetch_sub(&readers_inside, 1);
        assert(pthread_rwlock_unlock(&lock) == 0);
    }
    return NULL;
}

static void *writer(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2 == 0 || pthread_rwlock_trywrlock(&lock) != 0)
            assert(pthread_rwlock_wrlock(&lock) == 0);
        assert(atomic_fetch_add(&writers_inside, 1) == 0);
        assert(atomic_load(&readers_inside) == 0);
        left++;
        right++;
        atomic_fetch_sub(&writers_inside, 1);
        assert(pthread_rwlock_unlock(&lock) == 0);
    }
    return NULL;
}

static void *refused(void *arg) {
    int writing = *(int *)arg;
    struct timespec now, past = {1, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    now.tv_sec += 1;
    assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
    assert(pthread_rwlock_timedwrlock(&lock, &past) == ETIMEDOUT);
    assert(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    if (writing) {
        assert(pthread_rwlock_tryrdlock(&lock) == EBUSY);
        assert(pthread_rwlock_timedrdlock(&lock, &past) == ETIMEDOUT);
    } else {
        assert(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &now) == 0);
        assert(pthread_rwlock_unlock(&lock) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[READERS + WRITERS];
    for (int i = 0; i < READERS + WRITERS; i++)
        pthread_create(&threads[i], NULL, i < READERS ? reader : writer, NULL);
    for (int i = 0; i < READERS + WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert(left == WRITERS * ROUNDS && right == left);
    for (int writing = 0; writing < 2; writing++) {
        assert((writing ? pthread_rwlock_wrlock(&lock) : pthread_rwlock_rdlock(&lock)) == 0);
        pthread_create(&threads[0], NULL, refused, &writing);
        pthread_join(threads[0], NULL);
        assert(pthread_rwlock_unlock(&lock) == 0);
    }
    assert(pthread_rwlock_destroy(&lock) == 0);
    return 0;
}
