// Drivers reserve slots in a bitmap; the bit is set by a few instructions.
// bug: the bitmap is loaded, changed in a register and stored again, so another driver's slot may be lost
//@ expect: data-race|atomicity-violation|assertion
#include <assert.h>
#include <pthread.h>

enum { DRIVERS = 3 };

static unsigned slots;

static void reserve(unsigned bit) {
    unsigned all;
    __asm__ volatile("movl %1, %0" : "=r"(all) : "m"(slots) : "memory");
    all |= bit;
    __asm__ volatile("movl %1, %0" : "=m"(slots) : "r"(all) : "memory");
}

static void *drive(void *arg) {
    reserve(1U << (long)arg);
    return NULL;
}

int main(void) {
    pthread_t drivers[DRIVERS];
    for (long i = 0; i < DRIVERS; i++)
        pthread_create(&drivers[i], NULL, drive, (void *)i);
    for (int i = 0; i < DRIVERS; i++)
        pthread_join(drivers[i], NULL);
    assert(slots == 7);
    return 0;
}
