// Workers count what they handle, in assembly; main waits until all have begun.
// bug: the increment has no lock prefix, so that one of two may be lost
//@ expect: data-race count count
//@ consequence: none
#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 2, REQUESTS = 2 };

static int handled, begun;

static void begin(void) {
    __asm__ volatile("lock; incl %0" : "+m"(begun) : : "memory", "cc");
}

static int all_begun(void) {
    int value;
    __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(begun) : "memory");
    return value == WORKERS;
}

static void count(void) {
    __asm__ volatile("incl %0" : "+m"(handled) : : "memory", "cc"); // @count
}

static void *work(void *arg) {
    begin();
    for (int i = 0; i < REQUESTS; i++)
        count();
    return arg;
}

int main(void) {
    pthread_t workers[WORKERS];
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, (void *)i);
    while (!all_begun())
        __asm__ volatile("pause");
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%d requests\n", handled);
    return 0;
}
