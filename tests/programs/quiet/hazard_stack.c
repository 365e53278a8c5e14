// Treiber's stack with hazard pointers: a node is freed once no thread has it in its hazard slot; each thread keeps the
// nodes it has taken out until then.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, EACH = 3, RETIRED = THREADS * EACH };

struct node {
    struct node *next;
    int value;
};

struct participant {
    int number;
    int popped, sum;
    struct node *retired[RETIRED];
    int count;
};

static _Atomic(struct node *) top;
static _Atomic(struct node *) hazards[THREADS];

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&top, &node->next, node, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

static bool is_protected(struct node *node) {
    for (int i = 0; i < THREADS; i++)
        if (atomic_load(&hazards[i]) == node)
            return true;
    return false;
}

static void reclaim(struct participant *own) {
    int kept = 0;
    for (int i = 0; i < own->count; i++) {
        if (is_protected(own->retired[i]))
            own->retired[kept++] = own->retired[i];
        else
            free(own->retired[i]);
    }
    own->count = kept;
}

static bool pop(struct participant *own, int *value) {
    struct node *node = atomic_load(&top);
    for (;;) {
        if (node == NULL) {
            atomic_store(&hazards[own->number], NULL);
            return false;
        }
        atomic_store(&hazards[own->number], node);
        struct node *again = atomic_load(&top);
        if (again != node) {
            node = again;
            continue;
        }
        struct node *next = node->next;
        if (atomic_compare_exchange_strong(&top, &node, next))
            break;
    }
    *value = node->value;
    atomic_store(&hazards[own->number], NULL);
    own->retired[own->count++] = node;
    reclaim(own);
    return true;
}

static void *use(void *arg) {
    struct participant *own = arg;
    int value;
    for (int i = 0; i < EACH; i++) {
        push(own->number * EACH + i);
        if (pop(own, &value)) {
            own->popped++;
            own->sum += value;
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    struct participant participants[THREADS] = {{0}};
    int popped = 0, sum = 0, value;
    for (int i = 0; i < THREADS; i++) {
        participants[i].number = i;
        pthread_create(&threads[i], NULL, use, &participants[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        reclaim(&participants[i]);
        assert(participants[i].count == 0);
        popped += participants[i].popped;
        sum += participants[i].sum;
    }
    while (pop(&participants[0], &value)) {
        popped++;
        sum += value;
    }
    assert(popped == THREADS * EACH);
    assert(sum == popped * (popped - 1) / 2);
    printf("%d popped\n", popped);
    return 0;
}
