// exercises: detached threads that still run, wait or sleep when main returns; the process must end with main's status
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t never;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *waits(void *arg) {
    (void)arg;
    sem_wait(&never);
    return NULL;
}

static void *sleeps(void *arg) {
    (void)arg;
    for (int i = 0; i < 50; i++)
        usleep(1000);
    return NULL;
}

static void *works(void *arg) {
    (void)arg;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    void *(*bodies[])(void *) = {waits, sleeps, works};
    sem_init(&never, 0, 0);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, bodies[i], NULL);
        pthread_detach(thread);
    }
    pthread_mutex_lock(&lock);
    int sane = counter >= 0 && counter <= 100;
    pthread_mutex_unlock(&lock);
    return sane ? 0 : 1;
}
