// A failed assertion that no race leads to: the reader may come before the writer.
#include <assert.h>
#include <pthread.h>

struct store {
    pthread_mutex_t lock;
    int items;
};

static struct store store = {PTHREAD_MUTEX_INITIALIZER, 0};

static void *fill(void *unused) {
    (void)unused;
    pthread_mutex_lock(&store.lock);
    store.items = 3;
    pthread_mutex_unlock(&store.lock);
    return NULL;
}

static void *take(void *unused) {
    (void)unused;
    pthread_mutex_lock(&store.lock);
    int items = store.items;
    pthread_mutex_unlock(&store.lock);
    assert(items > 0);
    return NULL;
}

int main(void) {
    pthread_t filler, taker;
    pthread_create(&filler, NULL, fill, NULL);
    pthread_create(&taker, NULL, take, NULL);
    pthread_join(filler, NULL);
    pthread_join(taker, NULL);
}
