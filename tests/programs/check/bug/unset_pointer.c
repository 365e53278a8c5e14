// A node with a pointer in it is made and handed to another thread, which follows the pointer.
// bug: the node is handed over before its pointer is written
//@ expect: null-dereference
//@ consequence: crash
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    long padding[4];
    int *value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *shared;
static int *seven;

static void *make(void *unused) {
    (void)unused;
    struct node *node = malloc(sizeof *node);
    pthread_mutex_lock(&lock);
    shared = node;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    node->value = seven;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *use(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    if (shared) printf("%d\n", *shared->value);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t maker, user;
    seven = malloc(sizeof *seven);
    *seven = 7;
    pthread_create(&maker, NULL, make, NULL);
    pthread_create(&user, NULL, use, NULL);
    pthread_join(maker, NULL);
    pthread_join(user, NULL);
    return 0;
}
