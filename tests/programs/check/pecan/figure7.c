// PECAN, figure 7: taking the next event asks the queue for its size, its first element and that element's removal in
// three calls that lock one by one. Handling an event may post another.
//@ expect: atomicity-violation 1 3 2
//@ also: atomicity-violation
//@ also: atomic-set-violation
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>
#include <sched.h>

enum { ROOM = 4 };

struct queue {
    pthread_mutex_t lock;
    int events[ROOM];
    int size;
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int queue_size(void) {
    pthread_mutex_lock(&queue.lock);
    int size = queue.size; // @1
    pthread_mutex_unlock(&queue.lock);
    return size;
}

static int queue_element(int index) {
    pthread_mutex_lock(&queue.lock);
    assert(index < queue.size); // @2
    int event = queue.events[index];
    pthread_mutex_unlock(&queue.lock);
    return event;
}

static void queue_remove(int index) {
    pthread_mutex_lock(&queue.lock);
    int last = --queue.size; // @3
    for (int i = index; i < last; i++)
        queue.events[i] = queue.events[i + 1];
    pthread_mutex_unlock(&queue.lock);
}

static void queue_add(int event) {
    pthread_mutex_lock(&queue.lock);
    queue.events[queue.size++] = event;
    pthread_mutex_unlock(&queue.lock);
}

static int next_event(void) {
    while (queue_size() == 0)
        sched_yield();
    int event = queue_element(0);
    queue_remove(0);
    return event;
}

static void *handle(void *arg) {
    int *handled = arg;
    *handled = next_event();
    if (*handled == 1)
        queue_add(2);
    return NULL;
}

int main(void) {
    pthread_t handlers[2];
    int handled[2];
    queue_add(1);
    for (int i = 0; i < 2; i++)
        pthread_create(&handlers[i], NULL, handle, &handled[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(handlers[i], NULL);
    return handled[0] + handled[1] == 3 ? 0 : 1;
}
