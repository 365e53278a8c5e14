// hostile: threads try out memory that they must not access, jump out of the fault, and so access nothing; a barrier that faults first and then lets the access be is an access
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int *closed, *guarded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t probing;

static void on_fault(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    if (probing)
        siglongjmp(back, 1);
    assert((volatile int *)info->si_addr == guarded);
    mprotect((void *)guarded, 4096, PROT_READ | PROT_WRITE);
}

static void *probes(void *arg) {
    volatile int faults = 0;
    char copy[64];
    probing = 1;
    if (sigsetjmp(back, 1) == 0)
        closed[0] = 1;
    else
        faults++;
    if (sigsetjmp(back, 1) == 0)
        copy[0] = (char)closed[1];
    else
        faults++;
    if (sigsetjmp(back, 1) == 0)
        __atomic_fetch_add(&closed[2], 1, __ATOMIC_RELAXED);
    else
        faults++;
    if (sigsetjmp(back, 1) == 0)
        memcpy((void *)&closed[8], copy, sizeof copy);
    else
        faults++;
    probing = 0;
    assert(faults == 4);
    pthread_mutex_lock(&lock);
    guarded[0]++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, probes, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(guarded[0] == 2);
    return 0;
}
