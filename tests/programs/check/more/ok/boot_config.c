// One thread loads the configuration and says that it is ready; workers that come before that use the default.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct cfg {
    int limit;
};

static struct cfg loaded = {.limit = 64};
static struct cfg *cfg;
static atomic_int ready;

static void *work(void *arg) {
    int limit = 16;
    if (atomic_load(&ready))
        limit = cfg->limit;
    assert(limit == 16 || limit == 64);
    return arg;
}

static void *load(void *arg) {
    cfg = &loaded;
    atomic_store(&ready, 1);
    return arg;
}

int main(void) {
    pthread_t worker, loader;
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&loader, NULL, load, NULL);
    pthread_join(worker, NULL);
    pthread_join(loader, NULL);
    return 0;
}
