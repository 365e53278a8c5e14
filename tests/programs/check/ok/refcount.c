// Two threads share a document and count its users by hand; the last user, who learns that it is while it holds the
// lock, frees it.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct document {
    int users;
    int pages;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pages_read;

static void release(struct document *document) {
    pthread_mutex_lock(&lock);
    pages_read += document->pages;
    int left = --document->users;
    pthread_mutex_unlock(&lock);
    if (left == 0)
        free(document);
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
