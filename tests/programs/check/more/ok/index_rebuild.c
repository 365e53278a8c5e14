// Searches read an index under a read lock and count themselves under a mutex; a rebuild counts itself first and then
// takes the write lock.
//@ none
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t index_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int entries = 3;
static int searches, rebuilds;

static void *search(void *arg) {
    pthread_rwlock_rdlock(&index_lock);
    if (entries > 0) {
        pthread_mutex_lock(&stats_lock);
        searches++;
        pthread_mutex_unlock(&stats_lock);
    }
    pthread_rwlock_unlock(&index_lock);
    return arg;
}

static void *rebuild(void *arg) {
    pthread_mutex_lock(&stats_lock);
    rebuilds++;
    pthread_mutex_unlock(&stats_lock);
    pthread_rwlock_wrlock(&index_lock);
    entries = 4;
    pthread_rwlock_unlock(&index_lock);
    return arg;
}

int main(void) {
    pthread_t searcher, builder;
    pthread_create(&searcher, NULL, search, NULL);
    pthread_create(&builder, NULL, rebuild, NULL);
    pthread_join(searcher, NULL);
    pthread_join(builder, NULL);
    assert(searches == 1 && rebuilds == 1);
    return 0;
}
