// A message is a number or a text; a tag says which. The inbox holds one message, and the reader prints what it is.
//@ none
#include <assert.h>
#include <pthread.h>

enum tag { NUMBER, TEXT };

static struct {
    pthread_mutex_t lock;
    enum tag tag;
    union {
        long number;
        const char *text;
    };
} inbox = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *read_inbox(void *arg) {
    pthread_mutex_lock(&inbox.lock);
    if (inbox.tag == TEXT)
        assert(inbox.text[0] == 'h');
    pthread_mutex_unlock(&inbox.lock);
    return arg;
}

static void *send_text(void *arg) {
    pthread_mutex_lock(&inbox.lock);
    inbox.tag = TEXT;
    inbox.text = "hello";
    pthread_mutex_unlock(&inbox.lock);
    return arg;
}

int main(void) {
    pthread_t reader, sender;
    pthread_create(&reader, NULL, read_inbox, NULL);
    pthread_create(&sender, NULL, send_text, NULL);
    pthread_join(reader, NULL);
    pthread_join(sender, NULL);
    return 0;
}
