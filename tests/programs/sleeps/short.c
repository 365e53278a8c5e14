// bug: a short sleep is taken to be long enough for another thread's step; the argument says how main sleeps
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static atomic_int done;

static void *works(void *arg) {
    (void)arg;
    done = 1;
    return NULL;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "usleep";
    pthread_t worker;
    pthread_create(&worker, NULL, works, NULL);
    if (strcmp(way, "usleep") == 0)
        usleep(500);
    if (strcmp(way, "nanosleep") == 0)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    if (strcmp(way, "select") == 0)
        assert(select(0, NULL, NULL, NULL, &(struct timeval){0, 2000}) == 0);
    if (strcmp(way, "poll") == 0)
        assert(poll(NULL, 0, 1) == 0);
    assert(done);
    pthread_join(worker, NULL);
    return 0;
}
