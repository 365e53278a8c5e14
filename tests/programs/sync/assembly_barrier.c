// exercises: a barrier and a flag in inline assembly, waited for by polling; the loop at the barrier also reads a limit that
// never changes, the loop at the flag nothing else
#include <pthread.h>

static int arrived, released;
static volatile int limit = 2;

static void increment(int *p) {
    __asm__ volatile("lock; incl %0" : "+m"(*p) : : "memory", "cc");
}

static int load(int *p) {
    int value;
    __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*p) : "memory");
    return value;
}

static void meet(void) {
    increment(&arrived);
    while (load(&arrived) < limit)
        ;
}

static void *releases(void *arg) {
    meet();
    increment(&released);
    return arg;
}

static void *waits(void *arg) {
    meet();
    while (load(&released) == 0)
        __asm__ volatile("pause");
    return arg;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, releases, NULL);
    pthread_create(&second, NULL, waits, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
