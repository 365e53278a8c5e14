// A logger appends to the current buffer; rotation replaces the buffer, and the old one is archived and freed.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct buffer {
    int lines;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer *current;
static int archived;

static void *log_line(void *arg) {
    pthread_mutex_lock(&lock);
    current->lines++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *rotate(void *arg) {
    struct buffer *fresh = calloc(1, sizeof *fresh);
    pthread_mutex_lock(&lock);
    struct buffer *old = current;
    current = fresh;
    pthread_mutex_unlock(&lock);
    archived += old->lines;
    free(old);
    return arg;
}

int main(void) {
    pthread_t logger, rotator;
    current = calloc(1, sizeof *current);
    pthread_create(&logger, NULL, log_line, NULL);
    pthread_create(&rotator, NULL, rotate, NULL);
    pthread_join(logger, NULL);
    pthread_join(rotator, NULL);
    assert(archived + current->lines == 1);
    free(current);
    return 0;
}
