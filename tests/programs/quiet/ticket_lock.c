// A ticket lock whose waiters count their attempts, each for itself and all together. Under it: a list of plain nodes.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, EACH = 3 };

struct ticket_lock {
    atomic_uint next, serving;
};

struct node {
    struct node *next;
    int owner;
};

static struct ticket_lock lock;
static struct node *list;
static unsigned length;
static atomic_ulong all_attempts;

static unsigned long acquire(struct ticket_lock *l) {
    unsigned own = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    unsigned long attempts = 0;
    while (atomic_load_explicit(&l->serving, memory_order_acquire) != own) {
        attempts++;
        atomic_fetch_add_explicit(&all_attempts, 1, memory_order_relaxed);
        sched_yield();
    }
    return attempts;
}

static void release(struct ticket_lock *l) {
    // Only the holder writes it.
    unsigned own = atomic_load_explicit(&l->serving, memory_order_relaxed);
    atomic_store_explicit(&l->serving, own + 1, memory_order_release);
}

static void *insert(void *arg) {
    unsigned long *attempts = arg;
    for (int i = 0; i < EACH; i++) {
        struct node *node = malloc(sizeof *node);
        node->owner = i;
        *attempts += acquire(&lock);
        node->next = list;
        list = node;
        length++;
        release(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    unsigned long attempts[THREADS] = {0}, sum = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, insert, &attempts[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += attempts[i];
    }
    unsigned found = 0;
    while (list != NULL) {
        struct node *next = list->next;
        free(list);
        list = next;
        found++;
    }
    assert(found == THREADS * EACH && found == length);
    assert(sum == atomic_load(&all_attempts));
    printf("waited %lu times\n", sum);
    return 0;
}
