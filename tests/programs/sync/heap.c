// exercises: malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign, strdup, free across threads
#define _GNU_SOURCE
#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, ROUNDS = 6 };

struct node {
    struct node *next;
    unsigned char *bytes;
    size_t len;
    unsigned char fill;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *shared;

static void push(unsigned char *bytes, size_t len, unsigned char fill) {
    struct node *node = malloc(sizeof *node);
    memset(bytes, fill, len);
    *node = (struct node){NULL, bytes, len, fill};
    pthread_mutex_lock(&lock);
    node->next = shared;
    shared = node;
    pthread_mutex_unlock(&lock);
}

static int pop(void) {
    pthread_mutex_lock(&lock);
    struct node *node = shared;
    if (node)
        shared = node->next;
    pthread_mutex_unlock(&lock);
    if (!node)
        return 0;
    for (size_t i = 0; i < node->len; i++)
        assert(node->bytes[i] == node->fill);
    free(node->bytes);
    free(node);
    return 1;
}

static void *worker(void *arg) {
    unsigned char me = *(unsigned char *)arg;
    int taken = 0;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned char *zeroed = calloc(4, 6);
        for (int k = 0; k < 24; k++)
            assert(zeroed[k] == 0);
        zeroed = realloc(zeroed, 64);
        push(zeroed, 64, me);
        unsigned char *aligned = aligned_alloc(64, 128);
        assert((uintptr_t)aligned % 64 == 0);
        push(aligned, 20, me + 10);
        void *page;
        assert(posix_memalign(&page, 256, 40) == 0 && (uintptr_t)page % 256 == 0);
        push(page, 40, me + 20);
        char *text = strdup("raddle");
        assert(strcmp(text, "raddle") == 0 && malloc_usable_size(text) >= 7);
        free(text);
        free(NULL);
        taken += pop() + pop();
    }
    assert(taken == 2 * ROUNDS);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    unsigned char ids[THREADS] = {1, 2, 3};
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int rest = 0;
    while (pop())
        rest++;
    assert(rest == THREADS * ROUNDS);
    return 0;
}
