// exercises: pthread_spin_lock, pthread_spin_trylock, pthread_spin_unlock
#include <assert.h>
#include <errno.h>
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 10 };

static pthread_spinlock_t lock;
static int counter, busy;

static void *worker(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2 == 0)
            while (pthread_spin_trylock(&lock) == EBUSY)
                ;
        else
            assert(pthread_spin_lock(&lock) == 0);
        assert(busy == 0);
        busy = 1;
        counter++;
        busy = 0;
        assert(pthread_spin_unlock(&lock) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    assert(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == THREADS * ROUNDS);
    assert(pthread_spin_destroy(&lock) == 0);
    return 0;
}
