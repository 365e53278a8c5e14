// One thread loads the configuration and says that it is ready; workers that come before that use the default.
// bug: ready is set before the pointer is, so a worker that comes in between follows a null pointer
//@ expect: null-dereference|data-race|atomic-set-violation
//@ also: data-race
//@ also: atomic-set-violation
//@ also: null-dereference
//@ consequence: crash
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
    atomic_store(&ready, 1);
    cfg = &loaded;
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
