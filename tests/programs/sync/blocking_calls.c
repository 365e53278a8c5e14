// exercises: threads that block in the kernel (pipe read and write, poll) while others run under the scheduler
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

enum { MESSAGES = 8 };

static int to_echo[2], from_echo[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int background;

static void *echo(void *arg) {
    (void)arg;
    int value;
    while (read(to_echo[0], &value, sizeof value) == sizeof value) {
        value *= 2;
        assert(write(from_echo[1], &value, sizeof value) == sizeof value);
    }
    close(from_echo[1]);
    return NULL;
}

static void *works(void *arg) {
    (void)arg;
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        background++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int value, sum = 0;
    assert(pipe(to_echo) == 0 && pipe(from_echo) == 0);
    pthread_create(&threads[0], NULL, echo, NULL);
    pthread_create(&threads[1], NULL, works, NULL);
    for (int i = 1; i <= MESSAGES; i++) {
        assert(write(to_echo[1], &i, sizeof i) == sizeof i);
        struct pollfd ready = {from_echo[0], POLLIN, 0};
        assert(poll(&ready, 1, -1) == 1);
        assert(read(from_echo[0], &value, sizeof value) == sizeof value);
        sum += value;
    }
    close(to_echo[1]);
    assert(read(from_echo[0], &value, sizeof value) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(sum == MESSAGES * (MESSAGES + 1) && background == 20);
    return 0;
}
