// Two threads share a document and count its users by hand; the last user frees it.
// bug: a user gives up its share and asks for the number of the others' in two critical sections, and in between the
// last one may have freed the document
//@ expect: use-after-free ask last
//@ also: atomicity-violation
//@ also: double-free
//@ consequence: crash
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct document {
    int users;
    int pages;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pages_read;

static int users_of(struct document *document) {
    pthread_mutex_lock(&lock);
    int users = document->users; // @ask
    pthread_mutex_unlock(&lock);
    return users;
}

static void release(struct document *document) {
    pthread_mutex_lock(&lock);
    pages_read += document->pages;
    document->users--;
    pthread_mutex_unlock(&lock);
    if (users_of(document) == 0)
        free(document); // @last
}

static void *read_it(void *arg) {
    struct document *document = arg;
    release(document);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    struct document *document = malloc(sizeof *document);
    document->users = 2;
    document->pages = 8;
    pthread_create(&first, NULL, read_it, document);
    pthread_create(&second, NULL, read_it, document);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(pages_read == 16);
    return 0;
}
