// exercises: atomics in inline assembly that is given addresses in registers: with displacement, with an index, in named
// registers; copies by string instructions
#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { THREADS = 3, ROUNDS = 4 };

struct shared {
    int spare;
    int counter;
    long slots[THREADS];
    int lock;
    int ready;
    int arrived;
    int go;
    char message[16];
    char copy[16];
};

static struct shared shared;
static int exclusive;
static volatile int limit = THREADS;

static void add(struct shared *s, int value) {
    __asm__ volatile("lock; addl %1, 4(%0)" : : "r"(s), "r"(value) : "memory", "cc");
}

static void add_to_slot(long *slots, long which, long value) {
    __asm__ volatile("lock; addq %2, (%0,%1,8)" : : "r"(slots), "r"(which), "r"(value) : "memory", "cc");
}

static int exchange(int *p, int value) {
    __asm__ volatile("xchgl %0, (%1)" : "+r"(value) : "r"(p) : "memory");
    return value;
}

static void release(int *p) {
    __asm__ volatile("movl $0, (%%rdi)" : : "D"(p) : "memory");
}

static int acquire_load(const int *p) {
    int value;
    __asm__ volatile("movl (%1), %0" : "=r"(value) : "r"(p) : "memory");
    return value;
}

static void copy(char *to, const char *from, unsigned long len) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(len) : : "memory");
}

/// The first thread lets the others go once all are there.
static void meet(long me) {
    __asm__ volatile("lock; incl (%0)" : : "r"(&shared.arrived) : "memory", "cc");
    while (acquire_load(&shared.arrived) < limit)
        ;
    if (me == 0)
        exchange(&shared.go, 1);
    while (!acquire_load(&shared.go))
        ;
}

static void *work(void *arg) {
    long me = (long)arg;
    meet(me);
    for (int i = 0; i < ROUNDS; i++) {
        add(&shared, 2);
        add_to_slot(shared.slots, me, i);
        add_to_slot(shared.slots, (me + 1) % THREADS, 10);
        while (exchange(&shared.lock, 1))
            ;
        exclusive++;
        release(&shared.lock);
    }
    while (!acquire_load(&shared.ready))
        ;
    assert(strcmp(shared.message, "published") == 0);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    copy(shared.message, "published", 10);
    exchange(&shared.ready, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    copy(shared.copy, shared.message, 16);
    assert(memcmp(shared.copy, shared.message, 16) == 0);
    assert(shared.counter == 2 * THREADS * ROUNDS && exclusive == THREADS * ROUNDS);
    for (int i = 0; i < THREADS; i++)
        assert(shared.slots[i] == 6 + 10 * ROUNDS);
    return 0;
}
