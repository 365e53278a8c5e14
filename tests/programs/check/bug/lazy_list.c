// A sorted list of keys under one lock. Adding looks for the place first and then links the new node in.
// bug: the two lock separately; the node to link to may have been removed in between, and the key is lost with it
//@ expect: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
    int key;
    struct node *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node five = {5, NULL};
static struct node head = {0, &five};

/* The last node whose key is smaller. */
static struct node *place_of(int key) {
    struct node *node = &head;
    while (node->next != NULL && node->next->key < key)
        node = node->next;
    return node;
}

static void link_after(struct node *place, struct node *node) {
    node->next = place->next;
    place->next = node;
}

static void add(struct node *node) {
    pthread_mutex_lock(&lock);
    struct node *place = place_of(node->key);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    link_after(place, node);
    pthread_mutex_unlock(&lock);
}

static void take_out(int key) {
    pthread_mutex_lock(&lock);
    struct node *place = place_of(key);
    struct node *node = place->next;
    if (node != NULL && node->key == key) {
        place->next = node->next;
        node->next = NULL;
    }
    pthread_mutex_unlock(&lock);
}

static bool contains(int key) {
    pthread_mutex_lock(&lock);
    const struct node *node = place_of(key)->next;
    bool found = node != NULL && node->key == key;
    pthread_mutex_unlock(&lock);
    return found;
}

static void *add_seven(void *arg) {
    static struct node seven = {7, NULL};
    add(&seven);
    return arg;
}

static void *remove_five(void *arg) {
    take_out(5);
    return arg;
}

int main(void) {
    pthread_t adder, remover;
    pthread_create(&adder, NULL, add_seven, NULL);
    pthread_create(&remover, NULL, remove_five, NULL);
    pthread_join(adder, NULL);
    pthread_join(remover, NULL);
    assert(contains(7) && !contains(5));
    return 0;
}
