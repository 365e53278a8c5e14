// A door lets one thread in at a time: it is taken by comparing and exchanging, in assembly. Visitors count in a book.
// bug: cmpxchg without the lock prefix is not atomic, so two processors may both take the door
//@ expect: data-race|atomicity-violation|assertion
//@ also: data-race
#include <assert.h>
#include <pthread.h>
#include <sched.h>

enum { VISITORS = 2, VISITS = 2 };

static int door;
static int book;

static int take_door(void) {
    int old = 0;
    __asm__ volatile("cmpxchgl %2, %1" : "+a"(old), "+m"(door) : "r"(1) : "cc", "memory");
    return old == 0;
}

static void leave(void) {
    __asm__ volatile("movl $0, %0" : "=m"(door) : : "memory");
}

static void *visit(void *arg) {
    for (int i = 0; i < VISITS; i++) {
        while (!take_door())
            sched_yield();
        book++;
        leave();
    }
    return arg;
}

int main(void) {
    pthread_t visitors[VISITORS];
    for (int i = 0; i < VISITORS; i++)
        pthread_create(&visitors[i], NULL, visit, NULL);
    for (int i = 0; i < VISITORS; i++)
        pthread_join(visitors[i], NULL);
    assert(book == VISITORS * VISITS);
    return 0;
}
