// exercises: pthread_tryjoin_np by a thread that is cancelled: it does not wait, so it must not act on the cancellation
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { ROUNDS = 10 };

static int joined;

static void *child(void *argument) { return argument; }

static void *cancelled(void *argument) {
    pthread_t other;
    void *result = NULL;
    assert(pthread_create(&other, NULL, child, argument) == 0);
    pthread_cancel(pthread_self());
    while (pthread_tryjoin_np(other, &result) != 0)
        sched_yield();
    assert(result == argument);
    joined++;
    pthread_testcancel();
    return NULL;
}

int main(void) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        void *result;
        assert(pthread_create(&thread, NULL, cancelled, &joined) == 0);
        assert(pthread_join(thread, &result) == 0);
        assert(result == PTHREAD_CANCELED);
        assert(joined == round + 1);
    }
    printf("%d\n", joined);
}
