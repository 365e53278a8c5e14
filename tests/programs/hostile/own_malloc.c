// hostile: the program brings its own malloc family, built on a pthread mutex that is first used before main
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ARENA = 8 << 20, UNIT = 32 };

struct header {
    size_t units;
    struct header *next;
};

static _Alignas(UNIT) unsigned char arena[ARENA];
static size_t used;
static struct header *free_list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long served;

void *malloc(size_t size) {
    size_t units = (size + UNIT - 1) / UNIT + 1;
    pthread_mutex_lock(&lock);
    served++;
    struct header *found = NULL;
    for (struct header **place = &free_list; *place; place = &(*place)->next)
        if ((*place)->units >= units) {
            found = *place;
            *place = found->next;
            break;
        }
    if (!found && used + units * UNIT <= ARENA) {
        found = (struct header *)(arena + used);
        found->units = units;
        used += units * UNIT;
    }
    pthread_mutex_unlock(&lock);
    if (!found)
        errno = ENOMEM;
    return found ? (unsigned char *)found + UNIT : NULL;
}

void free(void *block) {
    if (!block)
        return;
    struct header *header = (struct header *)((unsigned char *)block - UNIT);
    pthread_mutex_lock(&lock);
    header->next = free_list;
    free_list = header;
    pthread_mutex_unlock(&lock);
}

void *calloc(size_t count, size_t size) {
    void *block = malloc(count * size);
    return block ? memset(block, 0, count * size) : NULL;
}

void *realloc(void *block, size_t size) {
    void *fresh = malloc(size);
    if (fresh && block) {
        size_t old = (((struct header *)((unsigned char *)block - UNIT))->units - 1) * UNIT;
        memcpy(fresh, block, old < size ? old : size);
        free(block);
    }
    return fresh;
}

static void *worker(void *arg) {
    int me = *(int *)arg;
    for (int i = 1; i <= 6; i++) {
        int *values = malloc(sizeof *values * i);
        values[i - 1] = me;
        values = realloc(values, sizeof *values * i * 4);
        assert(values[i - 1] == me);
        free(values);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    int ids[3] = {1, 2, 3};
    for (int i = 0; i < 3; i++)
        assert(pthread_create(&threads[i], NULL, worker, &ids[i]) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(served >= 36);
    return 0;
}
