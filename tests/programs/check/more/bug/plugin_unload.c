// A host unloads its plugin: it says so, and waits for the plugin's thread. A plugin that finds itself being unloaded
// strikes itself off the list.
// bug: the host holds the list's lock while it waits, and a plugin that notices in time needs that lock
//@ expect: deadlock
//@ consequence: deadlock
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_unloading;
static int listed = 1;
static pthread_t plugin;

static void *run_plugin(void *arg) {
    if (atomic_load(&is_unloading)) {
        pthread_mutex_lock(&list);
        listed = 0;
        pthread_mutex_unlock(&list);
    }
    return arg;
}

static void *unload(void *arg) {
    pthread_mutex_lock(&list);
    atomic_store(&is_unloading, true);
    pthread_join(plugin, NULL);
    listed = 0;
    pthread_mutex_unlock(&list);
    return arg;
}

int main(void) {
    pthread_t host;
    pthread_create(&plugin, NULL, run_plugin, NULL);
    pthread_create(&host, NULL, unload, NULL);
    pthread_join(host, NULL);
    assert(listed == 0);
    return 0;
}
