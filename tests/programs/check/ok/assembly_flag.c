// A message is published by a flag that is written and read in assembly, with its address in a register. A move orders what
// comes before a store and after a load.
//@ none
#include <assert.h>
#include <pthread.h>

struct message {
    int ready;
    int size;
};

static struct message message;

static void set(int *flag, int value) {
    __asm__ volatile("movl %1, (%0)" : : "r"(flag), "r"(value) : "memory");
}

static int get(const int *flag) {
    int value;
    __asm__ volatile("movl (%1), %0" : "=r"(value) : "r"(flag) : "memory");
    return value;
}

static void *publish(void *arg) {
    struct message *message = arg;
    message->size = 512; // @fill
    set(&message->ready, 1);
    return NULL;
}

int main(void) {
    pthread_t publisher;
    pthread_create(&publisher, NULL, publish, &message);
    while (!get(&message.ready))
        __asm__ volatile("rep; nop");
    int size = message.size; // @use
    pthread_join(publisher, NULL);
    assert(size == 512);
    return 0;
}
