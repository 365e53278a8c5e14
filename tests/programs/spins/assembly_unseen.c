// exercises: accesses that no event shows, since assembly computes their addresses itself: threads that wait for them by
// polling, among other threads that do, or that only read something else meanwhile
#include <assert.h>
#include <pthread.h>

enum { WAITERS = 3 };

static int arrived, released, done;
/// Read in the loops below, and never written: what a look at the events would take for the reason to wait.
static volatile int limit = WAITERS + 1;
static volatile int quiet;

static int hidden_load(int *p) {
    int value;
    __asm__ volatile("leaq %1, %%rcx; movl (%%rcx), %0" : "=r"(value) : "m"(*p) : "rcx", "memory");
    return value;
}

static void hidden_increment(int *p) {
    __asm__ volatile("leaq %0, %%rcx; lock; incl (%%rcx)" : : "m"(*p) : "rcx", "memory", "cc");
}

static void *waits(void *arg) {
    hidden_increment(&arrived);
    while (hidden_load(&arrived) < limit)
        ;
    while (hidden_load(&released) == 0)
        assert(!quiet);
    hidden_increment(&done);
    return arg;
}

static void *releases(void *arg) {
    hidden_increment(&arrived);
    while (hidden_load(&arrived) < limit)
        ;
    hidden_increment(&released);
    while (hidden_load(&done) < WAITERS)
        __asm__ volatile("pause");
    return arg;
}

int main(void) {
    pthread_t threads[WAITERS + 1];
    pthread_create(&threads[0], NULL, releases, NULL);
    for (int i = 1; i <= WAITERS; i++)
        pthread_create(&threads[i], NULL, waits, NULL);
    for (int i = 0; i <= WAITERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
