// A spooler, a printer and its tray have a lock each. Printing locks printer and tray; refilling locks tray and spool;
// submitting locks spool and printer.
//@ none
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t spool = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t printer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tray = PTHREAD_MUTEX_INITIALIZER;
static int jobs, pages = 1;

static void with(pthread_mutex_t *outer, pthread_mutex_t *inner, int *count, int change) {
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    *count += change;
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}

static void *submit(void *arg) {
    with(&spool, &printer, &jobs, 1);
    return arg;
}

static void *print(void *arg) {
    with(&printer, &tray, &pages, -1);
    return arg;
}

static void *refill(void *arg) {
    with(&spool, &tray, &pages, 10);
    return arg;
}

int main(void) {
    void *(*const tasks[])(void *) = {submit, print, refill};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, tasks[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(jobs == 1 && pages == 10);
    return 0;
}
