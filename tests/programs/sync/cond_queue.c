// exercises: pthread_cond_signal and pthread_cond_broadcast: a bounded queue, two producers, two consumers, closed by broadcast
#include <assert.h>
#include <pthread.h>

enum { CAPACITY = 2, ITEMS = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static int queue[CAPACITY], head, size, closed, sum, taken;

static void *producer(void *arg) {
    int base = *(int *)arg;
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&lock);
        while (size == CAPACITY)
            pthread_cond_wait(&not_full, &lock);
        queue[(head + size++) % CAPACITY] = base + i;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *consumer(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (size == 0 && !closed)
            pthread_cond_wait(&not_empty, &lock);
        if (size == 0)
            break;
        sum += queue[head];
        taken++;
        head = (head + 1) % CAPACITY;
        size--;
        pthread_cond_signal(&not_full);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t producers[2], consumers[2];
    int bases[2] = {0, 100};
    for (int i = 0; i < 2; i++) {
        pthread_create(&consumers[i], NULL, consumer, NULL);
        pthread_create(&producers[i], NULL, producer, &bases[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(producers[i], NULL);
    pthread_mutex_lock(&lock);
    closed = 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_broadcast(&not_empty);
    for (int i = 0; i < 2; i++)
        pthread_join(consumers[i], NULL);
    assert(taken == 2 * ITEMS);
    assert(sum == 2 * (ITEMS * (ITEMS - 1) / 2) + 100 * ITEMS);
    assert(pthread_cond_destroy(&not_empty) == 0 && pthread_cond_destroy(&not_full) == 0);
    return 0;
}
