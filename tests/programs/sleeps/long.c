// exercises: a second is long enough for another thread's steps, in one sleep or in a loop that looks every millisecond
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { STEPS = 20 };

static atomic_int steps;

static void *works(void *arg) {
    (void)arg;
    for (int i = 0; i < STEPS; i++)
        steps++;
    return NULL;
}

int main(int argc, char **argv) {
    (void)argv;
    pthread_t worker;
    pthread_create(&worker, NULL, works, NULL);
    if (argc > 1) {
        for (int i = 0; i < 1000 && steps < STEPS; i++)
            usleep(1000);
    } else {
        sleep(1);
    }
    assert(steps == STEPS);
    pthread_join(worker, NULL);
    return 0;
}
