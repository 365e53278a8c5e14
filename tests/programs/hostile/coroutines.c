// hostile: coroutines on stacks of their own that locks, allocations and other threads come between; they change threads
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { STACK = 64 << 10, COROUTINES = 4, STEPS = 5 };

struct coroutine {
    ucontext_t here, back;
    char *stack;
    int steps;
};

static struct coroutine coroutines[COROUTINES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, queue_lock = PTHREAD_MUTEX_INITIALIZER;
static int total, queue[COROUTINES], queued;

static void body(int index) {
    struct coroutine *me = &coroutines[index];
    char local[512];
    for (int i = 0; i < STEPS; i++) {
        memset(local, i, sizeof local);
        int *block = malloc(sizeof *block);
        *block = local[100];
        pthread_mutex_lock(&lock);
        total += *block;
        pthread_mutex_unlock(&lock);
        free(block);
        me->steps++;
        swapcontext(&me->here, &me->back);
    }
}

static int take(void) {
    pthread_mutex_lock(&queue_lock);
    int index = queued ? queue[--queued] : -1;
    pthread_mutex_unlock(&queue_lock);
    return index;
}

/// Takes any coroutine and lets it do one step: the next step may be another thread's.
static void *drives(void *arg) {
    for (int index; (index = take()) >= 0;) {
        struct coroutine *it = &coroutines[index];
        swapcontext(&it->back, &it->here);
        pthread_mutex_lock(&queue_lock);
        if (it->steps < STEPS)
            queue[queued++] = index;
        pthread_mutex_unlock(&queue_lock);
    }
    return arg;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < COROUTINES; i++) {
        struct coroutine *it = &coroutines[i];
        it->stack = malloc(STACK);
        getcontext(&it->here);
        it->here.uc_stack.ss_sp = it->stack;
        it->here.uc_stack.ss_size = STACK;
        it->here.uc_link = &it->back;
        makecontext(&it->here, (void (*)(void))body, 1, i);
        queue[queued++] = i;
    }
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, drives, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < COROUTINES; i++) {
        assert(coroutines[i].steps == STEPS);
        free(coroutines[i].stack);
    }
    assert(total == COROUTINES * (STEPS * (STEPS - 1) / 2));
    return 0;
}
