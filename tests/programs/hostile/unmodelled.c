// hostile: threads that wait for each other in system calls nobody stands in for: futexes called by assembly
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

enum { ROUNDS = 3 };

static atomic_int turn;
static int counted;

static long futex(atomic_int *word, int operation, int value) {
    long result;
    register long timeout __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_futex), "D"(word), "S"(operation), "d"(value), "r"(timeout)
                     : "rcx", "r11", "memory");
    return result;
}

static void wait_for(int mine) {
    int now;
    while ((now = atomic_load(&turn)) != mine)
        futex(&turn, FUTEX_WAIT_PRIVATE, now);
}

static void pass_to(int other) {
    atomic_store(&turn, other);
    futex(&turn, FUTEX_WAKE_PRIVATE, 2);
}

static void *player(void *arg) {
    int mine = *(int *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        wait_for(mine);
        counted++;
        pass_to(1 - mine);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, player, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counted == 2 * ROUNDS);
    return 0;
}
