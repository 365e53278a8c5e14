// TAME's figure 1: the protocol depends on what a monitor has written.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int is_good;

static void *monitor(void *nothing) {
    atomic_store(&is_good, 1);
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, monitor, 0);
    if (atomic_load(&is_good)) // sensitive
        puts("fast");
    else
        puts("slow");
    pthread_join(thread, 0);
    if (!atomic_load(&is_good))
        puts("it was joined");
    return 0;
}
