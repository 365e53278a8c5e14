// bug: whoever closes the stream frees its buffer; two threads may both find it there
// expect: double-free
// smallest: yes
#include <pthread.h>
#include <stdlib.h>

static char *buffer;

static void *close_stream(void *arg) {
    (void)arg;
    if (buffer) {
        free(buffer);
        buffer = NULL;
    }
    return NULL;
}

int main(void) {
    pthread_t other;
    buffer = malloc(100);
    pthread_create(&other, NULL, close_stream, NULL);
    close_stream(NULL);
    pthread_join(other, NULL);
    return 0;
}
