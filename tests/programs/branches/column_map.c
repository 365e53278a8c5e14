// TAME's figure 2: what is checked may be gone when it is used.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic(int *) columns;

static void *drop(void *nothing) {
    atomic_store(&columns, 0);
    return nothing;
}

int main(void) {
    pthread_t thread;
    int *map = calloc(4, sizeof *map);
    atomic_store(&columns, map);
    pthread_create(&thread, 0, drop, 0);
    if (atomic_load(&columns) == 0) // sensitive
        puts("none");
    else if (atomic_load(&columns)[1]) // not by its value, but the pointer may be null
        puts("set");
    pthread_join(thread, 0);
    free(map);
    return 0;
}
