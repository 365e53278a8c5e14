// hostile: 300 threads over a life, in waves of joined and detached ones
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

enum { WAVES = 30, JOINED = 6, DETACHED = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t departed;
static int counter;

static void *joined(void *arg) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *detached(void *arg) {
    joined(arg);
    sem_post(&departed);
    return NULL;
}

int main(void) {
    sem_init(&departed, 0, 0);
    for (int wave = 0; wave < WAVES; wave++) {
        pthread_t threads[JOINED + DETACHED];
        for (int i = 0; i < JOINED + DETACHED; i++) {
            assert(pthread_create(&threads[i], NULL, i < JOINED ? joined : detached, &threads[i]) == 0);
            if (i >= JOINED)
                assert(pthread_detach(threads[i]) == 0);
        }
        for (int i = 0; i < JOINED; i++) {
            void *result;
            assert(pthread_join(threads[i], &result) == 0 && result == &threads[i]);
        }
        for (int i = 0; i < DETACHED; i++)
            sem_wait(&departed);
    }
    assert(counter == WAVES * (JOINED + DETACHED));
    return 0;
}
