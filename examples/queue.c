// A bounded queue with one lock and one condition variable. Both sides test their condition in a loop, under the lock, as
// they should; yet the program sometimes stops for ever: a signal meant for a producer may wake a consumer, which goes back
// to sleep. `raddle run examples/queue.c` finds the deadlock and names who waits for what.
#include <pthread.h>
#include <stdio.h>

enum { CAPACITY = 1, ITEMS = 2, WORKERS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items[CAPACITY], size, sum;

static void put(int item) {
    pthread_mutex_lock(&lock);
    while (size == CAPACITY)
        pthread_cond_wait(&changed, &lock);
    items[size++] = item;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static int take(void) {
    pthread_mutex_lock(&lock);
    while (size == 0)
        pthread_cond_wait(&changed, &lock);
    int item = items[--size];
    sum += item;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return item;
}

static void *producer(void *arg) {
    (void)arg;
    for (int i = 1; i <= ITEMS; i++)
        put(i);
    return NULL;
}

static void *consumer(void *arg) {
    (void)arg;
    for (int i = 0; i < ITEMS; i++)
        take();
    return NULL;
}

int main(void) {
    pthread_t producers[WORKERS], consumers[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&producers[i], NULL, producer, NULL);
        pthread_create(&consumers[i], NULL, consumer, NULL);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(producers[i], NULL);
        pthread_join(consumers[i], NULL);
    }
    printf("sum %d\n", sum);
    return sum == WORKERS * (1 + 2) ? 0 : 1;
}
