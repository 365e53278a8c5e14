// exercises: main ends with pthread_exit, threads go on, the last one to end decides that the process ends with 0
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_t main_thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int remaining = 2;

static void check(void) {
    if (remaining != 0)
        _exit(9);
}

static void *joins_main(void *arg) {
    (void)arg;
    void *value;
    assert(pthread_join(main_thread, &value) == 0);
    assert(value == (void *)3);
    pthread_mutex_lock(&lock);
    remaining--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *works(void *arg) {
    (void)arg;
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        remaining += i % 2 ? -1 : 1;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    remaining--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    atexit(check);
    main_thread = pthread_self();
    pthread_create(&a, NULL, joins_main, NULL);
    pthread_create(&b, NULL, works, NULL);
    pthread_detach(a);
    pthread_detach(b);
    pthread_exit((void *)3);
}
