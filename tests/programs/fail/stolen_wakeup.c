// bug: the predicate is tested with `if`, so a consumer that was woken may find that another has taken the item
// expect: assertion
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int items;

static void *consumer(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    if (items == 0)
        pthread_cond_wait(&not_empty, &lock);
    assert(items > 0);
    items--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void produce(void) {
    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_t consumers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&consumers[i], NULL, consumer, NULL);
    produce();
    produce();
    for (int i = 0; i < 2; i++)
        pthread_join(consumers[i], NULL);
    return 0;
}
