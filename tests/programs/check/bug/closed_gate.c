// A gate is closed under a lock; once it is, the owner changes what lies behind it.
// bug: the visitor reads what lies behind the gate without asking whether it is open
//@ expect: data-race change visit
//@ consequence: none
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_open, data = 3, seen;

static void *close_gate(void *arg) {
    pthread_mutex_lock(&lock);
    is_open = 0;
    pthread_mutex_unlock(&lock);
    data = 5; // @change
    return arg;
}

static void *visit(void *arg) {
    pthread_mutex_lock(&lock);
    int may_enter = is_open;
    pthread_mutex_unlock(&lock);
    int found = data; // @visit
    if (!may_enter)
        found = 1;
    seen = found;
    return arg;
}

int main(void) {
    pthread_t owner, visitor;
    pthread_create(&owner, NULL, close_gate, NULL);
    pthread_create(&visitor, NULL, visit, NULL);
    pthread_join(owner, NULL);
    pthread_join(visitor, NULL);
    printf("%d\n", seen);
    return 0;
}
