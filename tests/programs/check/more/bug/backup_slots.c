// Two backups write into one slot of the store; the one that finds the slot taken gives its buffer back and leaves.
// bug: the buffer of a refused backup is freed where it is refused and again where it leaves
//@ expect: double-free|atomicity-violation|crash
//@ also: double-free|atomicity-violation
//@ consequence: crash
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int busy;

static int begin(void) {
    pthread_mutex_lock(&lock);
    int is_free = !busy;
    if (is_free)
        busy = 1;
    pthread_mutex_unlock(&lock);
    return is_free;
}

static void end(void) {
    pthread_mutex_lock(&lock);
    busy = 0;
    pthread_mutex_unlock(&lock);
}

static int store(char *buffer) {
    if (!begin()) {
        free(buffer);
        return -1;
    }
    snprintf(buffer, 16, "block %d", busy);
    end();
    return 0;
}

static void *back_up(void *arg) {
    long *refused = arg;
    char *buffer = malloc(16);
    if (store(buffer) < 0)
        ++*refused;
    free(buffer);
    return NULL;
}

int main(void) {
    pthread_t backups[2];
    long refused[2] = {0};
    for (int i = 0; i < 2; i++)
        pthread_create(&backups[i], NULL, back_up, &refused[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(backups[i], NULL);
    return refused[0] + refused[1] > 1;
}
