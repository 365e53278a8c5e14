// hostile: handlers on alternate stacks that jump out of faults and stack overflows, in several threads at once
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROUNDS = 3 };

static __thread sigjmp_buf back;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int recovered;
static char *forbidden;

static void on_fault(int number, siginfo_t *info, void *context) {
    (void)context;
    assert(number == SIGSEGV && info->si_addr);
    siglongjmp(back, 1);
}

__attribute__((noinline)) static int overflow(volatile char *above) {
    volatile char frame[4096];
    frame[0] = above[0];
    return overflow(frame) + frame[17];
}

static void *faults(void *arg) {
    stack_t alternate = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16}, none = {.ss_flags = SS_DISABLE};
    volatile char first = 0;
    assert(sigaltstack(&alternate, NULL) == 0);
    for (volatile int i = 0; i < ROUNDS; i++) {
        if (sigsetjmp(back, 1) == 0)
            forbidden[*(int *)arg + i] = 1;
        pthread_mutex_lock(&lock);
        recovered++;
        pthread_mutex_unlock(&lock);
        if (sigsetjmp(back, 1) == 0)
            overflow(&first);
        pthread_mutex_lock(&lock);
        recovered++;
        pthread_mutex_unlock(&lock);
    }
    assert(sigaltstack(&none, NULL) == 0);
    free(alternate.ss_sp);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    int places[2] = {0, 64};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(forbidden != MAP_FAILED && sigaction(SIGSEGV, &action, NULL) == 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, faults, &places[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(recovered == 2 * 2 * ROUNDS);
    return 0;
}
