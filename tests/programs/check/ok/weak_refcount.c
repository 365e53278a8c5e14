//@ none
//@ unconfirmed: 0

// The last owner acquires what the others have released.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

struct Shared {
    atomic_int owners;
    int value;
};

static struct Shared shared = {2, 5};

static void *use(void *arg) {
    int value = shared.value; // @read
    if (value != 5) {
        puts("cleaned up");
    }
    if (atomic_fetch_sub_explicit(&shared.owners, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        shared.value = 0; // @write
    }
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, use, NULL);
    pthread_create(&other, NULL, use, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
