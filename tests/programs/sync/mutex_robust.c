// exercises: robust mutexes: EOWNERDEAD after the owner ended, pthread_mutex_consistent, ENOTRECOVERABLE
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t kept, lost;
static int half_done, recovered, unusable;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;

static void init(pthread_mutex_t *mutex) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    assert(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
    assert(pthread_mutex_init(mutex, &attr) == 0);
    pthread_mutexattr_destroy(&attr);
}

static void *dies_holding(void *arg) {
    (void)arg;
    assert(pthread_mutex_lock(&kept) == 0);
    half_done = 1;
    assert(pthread_mutex_lock(&lost) == 0);
    return NULL;
}

static void *recovers(void *arg) {
    (void)arg;
    int result = pthread_mutex_lock(&kept);
    if (result == EOWNERDEAD) {
        assert(half_done == 1);
        half_done = 2;
        recovered++;
        assert(pthread_mutex_consistent(&kept) == 0);
    } else {
        assert(result == 0 && half_done == 2);
    }
    assert(pthread_mutex_unlock(&kept) == 0);

    result = pthread_mutex_lock(&lost);
    if (result == EOWNERDEAD) {
        assert(pthread_mutex_unlock(&lost) == 0);
    } else {
        assert(result == ENOTRECOVERABLE);
        pthread_mutex_lock(&count_lock);
        unusable++;
        pthread_mutex_unlock(&count_lock);
    }
    return NULL;
}

int main(void) {
    pthread_t owner, others[3];
    init(&kept);
    init(&lost);
    pthread_create(&owner, NULL, dies_holding, NULL);
    pthread_join(owner, NULL);
    for (int i = 0; i < 3; i++)
        pthread_create(&others[i], NULL, recovers, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(others[i], NULL);
    assert(recovered == 1 && unusable == 2);
    assert(pthread_mutex_trylock(&lost) == ENOTRECOVERABLE);
    return 0;
}
