// One thread appends the text of another buffer to its own while a second thread cuts that other buffer short.
// Length and characters are taken in one critical section.
//@ none
#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { ROOM = 32 };

struct text {
    pthread_mutex_t lock;
    int length;
    char chars[ROOM];
};

static struct text line = {PTHREAD_MUTEX_INITIALIZER, 6, "Hello "};
static struct text name = {PTHREAD_MUTEX_INITIALIZER, 5, "world"};

static int text_copy(struct text *text, int room, char *to) {
    pthread_mutex_lock(&text->lock);
    int count = text->length;
    assert(count <= room);
    for (int i = 0; i < count; i++)
        to[i] = text->chars[i];
    pthread_mutex_unlock(&text->lock);
    return count;
}

static void text_append(struct text *text, struct text *other) {
    pthread_mutex_lock(&text->lock);
    int count = text_copy(other, ROOM - text->length, text->chars + text->length);
    text->length += count;
    pthread_mutex_unlock(&text->lock);
}

static void text_cut(struct text *text, int length) {
    pthread_mutex_lock(&text->lock);
    text->length = length;
    pthread_mutex_unlock(&text->lock);
}

static void *append(void *arg) {
    (void)arg;
    text_append(&line, &name);
    return NULL;
}

static void *cut(void *arg) {
    (void)arg;
    text_cut(&name, 2);
    return NULL;
}

int main(void) {
    pthread_t appender, cutter;
    pthread_create(&appender, NULL, append, NULL);
    pthread_create(&cutter, NULL, cut, NULL);
    pthread_join(appender, NULL);
    pthread_join(cutter, NULL);
    assert(memcmp(line.chars, "Hello wo", 8) == 0);
    return 0;
}
