// Drivers reserve slots in a bitmap; the bit is set by a few instructions.
//@ none
#include <assert.h>
#include <pthread.h>

enum { DRIVERS = 3 };

static unsigned slots;

static void reserve(unsigned bit) {
    __asm__ volatile("lock orl %1, %0" : "+m"(slots) : "r"(bit) : "cc", "memory");
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
