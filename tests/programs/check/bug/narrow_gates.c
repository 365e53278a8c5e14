// A clerk looks at the progress of a worker three times, and does something else only if it meets three exact values.
// bug: what the clerk does then races with the worker's last look; no run takes that path by chance
//@ expect: data-race clerk main
//@ consequence: none
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int progress, opened;

static int look(void) {
    pthread_mutex_lock(&lock);
    int seen = progress;
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *clerk(void *nothing) {
    if (look() == 7)
        if (look() * 3 == 39)
            if ((look() ^ 5) == 16)
                opened = 1; // @clerk
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, clerk, 0);
    for (int i = 0; i < 30; i++) {
        pthread_mutex_lock(&lock);
        progress++;
        pthread_mutex_unlock(&lock);
    }
    printf("%d\n", opened); // @main
    pthread_join(thread, 0);
    return 0;
}
