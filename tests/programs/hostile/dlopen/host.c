// hostile: opens the shared library named by its first argument while threads run, calls it from several, closes it
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int (*count)(int), (*crowd)(void);

static void *worker(void *arg) {
    (void)arg;
    for (int i = 0; i < 5; i++)
        assert(count(1) > 0);
    return NULL;
}

int main(int argc, char **argv) {
    assert(argc == 2);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    assert(library);
    count = (int (*)(int))dlsym(library, "plugin_count");
    crowd = (int (*)(void))dlsym(library, "plugin_crowd");
    assert(count && crowd);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    assert(crowd() == 2 * (103 + 3 - 2));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(count(0) == 15 + 6);
    assert(dlclose(library) == 0);
    return 0;
}
