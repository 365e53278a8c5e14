// exercises: C11 thrd_create/join/detach/exit/yield/sleep, mtx plain/recursive/timed/try, cnd, call_once, tss with destructors
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

enum { THREADS = 3, ROUNDS = 5 };

static mtx_t plain, recursive, timed;
static cnd_t all_started;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int initialised, started, total, freed;
static thread_local int own;

static void init_once(void) {
    initialised++;
}

static void release(void *block) {
    mtx_lock(&plain);
    freed++;
    mtx_unlock(&plain);
    free(block);
}

static int worker(void *arg) {
    int me = (int)(intptr_t)arg;
    call_once(&flag, init_once);
    tss_set(key, malloc(8));
    mtx_lock(&plain);
    started++;
    if (started == THREADS)
        cnd_broadcast(&all_started);
    while (started < THREADS)
        cnd_wait(&all_started, &plain);
    mtx_unlock(&plain);
    for (int i = 0; i < ROUNDS; i++) {
        mtx_lock(&recursive);
        mtx_lock(&recursive);
        own++;
        total++;
        mtx_unlock(&recursive);
        mtx_unlock(&recursive);
        thrd_yield();
    }
    assert(own == ROUNDS && tss_get(key) != NULL);
    if (me == 1)
        thrd_exit(me * 10);
    return me * 10;
}

static int fails_to_lock(void *arg) {
    struct timespec past = {1, 0};
    (void)arg;
    assert(mtx_trylock(&timed) == thrd_busy);
    assert(mtx_timedlock(&timed, &past) == thrd_timedout);
    return 0;
}

int main(void) {
    thrd_t threads[THREADS], other;
    int result;
    assert(mtx_init(&plain, mtx_plain) == thrd_success);
    assert(mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success);
    assert(mtx_init(&timed, mtx_timed) == thrd_success);
    assert(cnd_init(&all_started) == thrd_success);
    assert(tss_create(&key, release) == thrd_success);
    for (intptr_t i = 0; i < THREADS; i++)
        assert(thrd_create(&threads[i], worker, (void *)i) == thrd_success);
    for (int i = 0; i < THREADS; i++) {
        assert(thrd_join(threads[i], &result) == thrd_success);
        assert(result == i * 10);
    }
    assert(initialised == 1 && total == THREADS * ROUNDS && freed == THREADS && own == 0);
    mtx_lock(&timed);
    thrd_create(&other, fails_to_lock, NULL);
    thrd_join(other, NULL);
    struct timespec past = {1, 0}, nap = {0, 1000000};
    assert(cnd_timedwait(&all_started, &timed, &past) == thrd_timedout);
    mtx_unlock(&timed);
    assert(thrd_sleep(&nap, NULL) == 0);
    mtx_destroy(&plain);
    cnd_destroy(&all_started);
    tss_delete(key);
    return 0;
}
