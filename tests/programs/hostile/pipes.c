// hostile: threads that wait for each other by pipes within the process, with regions around them
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int forth[2], back[2], handed_over, counted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count(void) {
    pthread_mutex_lock(&lock);
    counted++;
    pthread_mutex_unlock(&lock);
}

static void say(int to[2]) {
    handed_over++;
    count();
    assert(write(to[1], "x", 1) == 1);
}

static void hear(int from[2]) {
    char byte;
    assert(read(from[0], &byte, 1) == 1);
    count();
    handed_over++;
}

static void *asks(void *arg) {
    say(forth);
    hear(back);
    say(forth);
    return arg;
}

static void *answers(void *arg) {
    hear(forth);
    say(back);
    hear(forth);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    assert(pipe(forth) == 0 && pipe(back) == 0);
    pthread_create(&threads[0], NULL, asks, NULL);
    pthread_create(&threads[1], NULL, answers, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(handed_over == 6 && counted == 6);
    return 0;
}
