// hostile: a thread overflows its stack
// failure: crash: SIGSEGV
#include <pthread.h>

__attribute__((noinline)) static int deep(volatile char *above) {
    volatile char frame[4096];
    frame[0] = above[0];
    return deep(frame) + frame[17];
}

static void *overflows(void *arg) {
    volatile char first = 0;
    return deep(&first) ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, overflows, NULL);
    pthread_join(thread, NULL);
    return 0;
}
