// exercises: unnamed semaphores: sem_wait, sem_post, sem_trywait, sem_getvalue, as a pool of two permits
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 5, PERMITS = 2 };

static sem_t permits, mutex;
static atomic_int inside;
static int total;

static void *worker(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        if (sem_trywait(&permits) != 0) {
            assert(errno == EAGAIN);
            assert(sem_wait(&permits) == 0);
        }
        assert(atomic_fetch_add(&inside, 1) < PERMITS);
        sem_wait(&mutex);
        total++;
        sem_post(&mutex);
        atomic_fetch_sub(&inside, 1);
        assert(sem_post(&permits) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int value;
    assert(sem_init(&permits, 0, PERMITS) == 0);
    assert(sem_init(&mutex, 0, 1) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(total == THREADS * ROUNDS);
    assert(sem_getvalue(&permits, &value) == 0 && value == PERMITS);
    assert(sem_destroy(&permits) == 0 && sem_destroy(&mutex) == 0);
    return 0;
}
