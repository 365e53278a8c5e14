// A child tells its parent, by the id that the parent knew itself by, that the work is over: the signal comes to a thread
// that waits for the ends of those who look out for it.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int over;

static void on_over(int number) {
    (void)number;
    over = 1;
}

static void *works(void *arg) {
    while (!over)
        sched_yield();
    return arg;
}

int main(void) {
    pthread_t workers[2];
    signal(SIGUSR1, on_over);
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, works, NULL);
    pid_t parent = getpid();
    if (fork() == 0) {
        usleep(5000);
        _exit(kill(parent, SIGUSR1) == 0 ? 0 : 1);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    int status;
    wait(&status);
    assert(status == 0);
    return 0;
}
