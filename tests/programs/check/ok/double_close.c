// Two users of a channel each close it when they are done; whoever takes the buffer out of it, in one atomic step,
// frees it.
//@ none
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct channel {
    _Atomic(char *) buffer;
    int size;
};

struct channel channel;

static void channel_close(struct channel *closing) {
    char *buffer = atomic_exchange(&closing->buffer, NULL);
    if (buffer != NULL) {
        memset(buffer, 0, 4);
        free(buffer);
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
