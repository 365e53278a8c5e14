// corrected: the pointer is exchanged in one atomic operation, and freed by whoever got it
// smallest: yes
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static char *_Atomic buffer;

static void *close_stream(void *arg) {
    (void)arg;
    free(atomic_exchange(&buffer, NULL));
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
