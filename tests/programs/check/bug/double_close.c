// Two users of a channel each close it when they are done; closing frees its buffer.
// bug: two threads may both find the buffer there, and both free it
//@ expect: data-race find clear
//@ also: data-race
//@ also: double-free
//@ also: use-after-free
//@ consequence: crash
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct channel {
    char *buffer;
    int size;
};

struct channel channel;

static void channel_close(struct channel *closing) {
    char *buffer = closing->buffer; // @find
    if (buffer != NULL) {
        memset(buffer, 0, 4);
        free(buffer);
        closing->buffer = NULL; // @clear
    }
}

static void *use(void *arg) {
    struct channel *used = arg;
    channel_close(used);
    return NULL;
}

int main(void) {
    pthread_t reader, writer;
    channel.size = 16;
    channel.buffer = malloc(16);
    pthread_create(&reader, NULL, use, &channel);
    pthread_create(&writer, NULL, use, &channel);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    return channel.buffer == NULL ? 0 : 1;
}
