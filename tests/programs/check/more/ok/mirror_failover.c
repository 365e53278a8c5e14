// A reader uses the primary store; if it finds the primary down, it goes to the mirror.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct store {
    int blocks;
};

static struct store primary = {.blocks = 12};
static _Atomic(struct store *) mirror;
static atomic_int is_down;

static void *read_blocks(void *arg) {
    struct store *store = &primary;
    if (atomic_load(&is_down))
        store = atomic_load(&mirror);
    assert(store->blocks == 12);
    return arg;
}

static void *fail_over(void *arg) {
    struct store *fresh = malloc(sizeof *fresh);
    fresh->blocks = 12;
    atomic_store(&mirror, fresh);
    atomic_store(&is_down, 1);
    return arg;
}

int main(void) {
    pthread_t reader, operator;
    pthread_create(&reader, NULL, read_blocks, NULL);
    pthread_create(&operator, NULL, fail_over, NULL);
    pthread_join(reader, NULL);
    pthread_join(operator, NULL);
    free(atomic_load(&mirror));
    return 0;
}
