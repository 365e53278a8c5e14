// Consumers of a mailbox sleep while it is empty; what one has read it may send on.
// bug: a consumer that was woken takes a letter without looking whether one is still there
//@ expect: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

enum { ROOM = 4 };

struct mailbox {
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    int letters[ROOM];
    int count;
};

static struct mailbox mailbox = {.lock = PTHREAD_MUTEX_INITIALIZER, .arrived = PTHREAD_COND_INITIALIZER};
static sem_t started;

static void put(struct mailbox *to, int letter) {
    pthread_mutex_lock(&to->lock);
    to->letters[to->count++] = letter;
    pthread_cond_signal(&to->arrived);
    pthread_mutex_unlock(&to->lock);
}

static int get(struct mailbox *from) {
    pthread_mutex_lock(&from->lock);
    if (from->count == 0)
        pthread_cond_wait(&from->arrived, &from->lock);
    from->count--;
    assert(from->count >= 0);
    int letter = from->letters[from->count];
    pthread_mutex_unlock(&from->lock);
    return letter;
}

static void *early_reader(void *arg) {
    sem_post(&started);
    put(&mailbox, get(&mailbox) + 1);
    return arg;
}

static void *late_reader(void *arg) {
    put(&mailbox, get(&mailbox) + 1);
    return arg;
}

int main(void) {
    pthread_t early, late;
    sem_init(&started, 0, 0);
    pthread_create(&early, NULL, early_reader, NULL);
    sem_wait(&started);
    put(&mailbox, 10);
    pthread_create(&late, NULL, late_reader, NULL);
    pthread_join(early, NULL);
    pthread_join(late, NULL);
    assert(get(&mailbox) == 12);
    return 0;
}
