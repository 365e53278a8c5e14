// hostile: the process kills itself while threads wait for each other
// failure: crash: SIGKILL
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void *meets(void *arg) {
    pthread_barrier_wait(&barrier);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, meets, NULL);
    meets(NULL);
    kill(getpid(), SIGKILL);
    pthread_join(thread, NULL);
    return 0;
}
