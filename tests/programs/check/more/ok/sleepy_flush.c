// A writer flushes a block to disk in the background; the owner sleeps for a millisecond and frees the block.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct block {
    char data[8];
};

static int flushed;

static void *flush(void *arg) {
    struct block *block = arg;
    for (int i = 0; i < 8; i++)
        flushed += block->data[i];
    return NULL;
}

int main(void) {
    pthread_t writer;
    struct timespec a_millisecond = {0, 1000000};
    struct block *block = malloc(sizeof *block);
    memset(block->data, 2, sizeof block->data);
    pthread_create(&writer, NULL, flush, block);
    nanosleep(&a_millisecond, NULL);
    pthread_join(writer, NULL);
    free(block);
    assert(flushed == 16);
    return 0;
}
