// Names of hosts are put at the head of a list without a lock; a resolver walks the list at the same time.
// bug: the new head is stored relaxed, so a resolver may follow it to an entry that it does not see yet
//@ expect: data-race next walk
//@ expect: data-race address resolve
//@ consequence: none|assertion|crash
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct alias {
    struct alias *next;
    int address;
};

static _Atomic(struct alias *) head;

static void *add(void *arg) {
    struct alias *alias = malloc(sizeof *alias);
    struct alias *first = atomic_load_explicit(&head, memory_order_relaxed);
    alias->address = 42; // @address
    do
        alias->next = first; // @next
    while (!atomic_compare_exchange_weak_explicit(&head, &first, alias,
                                                  memory_order_relaxed, memory_order_relaxed));
    return arg;
}

static void *resolve(void *arg) {
    int *found = arg;
    struct alias *alias = atomic_load_explicit(&head, memory_order_acquire);
    while (alias != NULL) {
        int address = alias->address; // @resolve
        assert(address == 42);
        ++*found;
        alias = alias->next; // @walk
    }
    return arg;
}

int main(void) {
    pthread_t first, second, resolver;
    int found = 0;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_create(&resolver, NULL, resolve, &found);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    pthread_join(resolver, NULL);
    assert(found <= 2);
    for (struct alias *alias = atomic_load(&head); alias != NULL;) {
        struct alias *next = alias->next;
        free(alias);
        alias = next;
    }
    return 0;
}
