// exercises: atomics in inline assembly whose operands are in memory: lock inc, dec, xadd, xchg, cmpxchg, cmpxchg16b, bts,
// moves, fences; a barrier and a flag that are waited for by polling
// races: yes
// A volatile read beside a locked instruction is what libraries do that are written in assembly, and a race in C.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

enum { THREADS = 2, ROUNDS = 4 };

/// As many libraries declare what their assembly accesses, so that the compiler does not look into it.
struct any {
    unsigned long words[10];
};
#define ANY(p) (*(struct any *)(p))

struct pair {
    unsigned long low, high;
} __attribute__((aligned(16)));

static int arrived, released;
static volatile int limit = THREADS;
static int counter, exclusive, tickets, data, bits;
static unsigned char locked;
static struct pair pair;
static _Bool seen[THREADS * ROUNDS];

static int load(int *p) {
    int value;
    __asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*p) : "memory");
    return value;
}

static void store(int *p, int value) {
    __asm__ volatile("movl %1, %0" : "=m"(*p) : "ir"(value) : "memory");
}

static void increment(int *p) {
    __asm__ volatile("lock; incl %0" : "+m"(*p) : : "memory", "cc");
}

static bool decrement_is_zero(int *p) {
    bool zero;
    __asm__ volatile("lock decl %0; setz %1" : "+m"(*p), "=qm"(zero) : : "memory", "cc");
    return zero;
}

static int fetch_add(int *p, int value) {
    __asm__ volatile("lock; xaddl %0, %1" : "+r"(value), "=m"(ANY(p)) : : "memory", "cc");
    return value;
}

static unsigned char swap_byte(unsigned char *p, unsigned char value) {
    __asm__ volatile("xchgb %b0, %1" : "+q"(value), "+m"(ANY(p)) : : "memory");
    return value;
}

static bool compare_and_swap(int *p, int old, int new) {
    bool done;
    __asm__ volatile("lock; cmpxchg %3, %1\n\tsete %0" : "=q"(done), "+m"(*p), "+a"(old) : "r"(new) : "memory", "cc");
    return done;
}

static bool test_and_set_bit(int *p, int bit) {
    bool was;
    __asm__ volatile("lock btsl %2, %0; setc %1" : "+m"(*p), "=q"(was) : "r"(bit) : "memory", "cc");
    return was;
}

static bool swap_pair(struct pair *p, struct pair *old, struct pair new) {
    bool done;
    __asm__ volatile("lock cmpxchg16b %1; setz %0"
                     : "=q"(done), "+m"(*p), "+a"(old->low), "+d"(old->high)
                     : "b"(new.low), "c"(new.high)
                     : "memory", "cc");
    return done;
}

static void pause_a_little(void) {
    __asm__ volatile("rep; nop" ::: "memory");
}

static void fence(void) {
    __asm__ volatile("lock; addl $0, 0(%%rsp)" ::: "memory", "cc");
    __asm__ volatile("mfence" ::: "memory");
}

static void *work(void *arg) {
    int me = (int)(long)arg;
    increment(&arrived);
    while (load(&arrived) < limit)
        ;
    for (int i = 0; i < ROUNDS; i++) {
        increment(&counter);
        int ticket = fetch_add(&tickets, 1);
        assert(ticket < THREADS * ROUNDS && !seen[ticket]);
        seen[ticket] = true;
        while (swap_byte(&locked, 1))
            while (*(volatile unsigned char *)&locked)
                pause_a_little();
        exclusive++;
        swap_byte(&locked, 0);
        int old;
        do
            old = load(&data);
        while (!compare_and_swap(&data, old, old + 3));
        assert(!test_and_set_bit(&bits, me * ROUNDS + i));
        struct pair expected = {0, 0};
        while (!swap_pair(&pair, &expected, (struct pair){expected.low + 1, expected.high + 2}))
            ;
        fence();
    }
    return NULL;
}

static void *waits(void *arg) {
    work(arg);
    while (load(&released) == 0)
        pause_a_little();
    return NULL;
}

static void *releases(void *arg) {
    work(arg);
    store(&released, 1);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_create(&threads[0], NULL, releases, (void *)0);
    pthread_create(&threads[1], NULL, waits, (void *)1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == THREADS * ROUNDS && exclusive == counter && tickets == counter);
    assert(data == 3 * counter && bits == (1 << counter) - 1);
    assert(pair.low == (unsigned long)counter && pair.high == 2 * pair.low);
    while (!decrement_is_zero(&counter))
        ;
    return 0;
}
