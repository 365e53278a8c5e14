// A worker fills in a session; the owner waits until it is complete, takes the result and destroys it.
// bug: the worker counts the session's bytes after it has reported it complete
//@ expect: use-after-free late destroy
//@ also: data-race
//@ consequence: crash|assertion
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct session {
    bool complete;
    int answer;
    int bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int traffic;

static void *serve(void *arg) {
    struct session *session = arg;
    session->bytes = 64;
    pthread_mutex_lock(&lock);
    session->answer = 42;
    session->complete = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    traffic += session->bytes; // @late
    return NULL;
}

static int finish(struct session *session) {
    pthread_mutex_lock(&lock);
    while (!session->complete)
        pthread_cond_wait(&changed, &lock);
    int answer = session->answer;
    pthread_mutex_unlock(&lock);
    free(session); // @destroy
    return answer;
}

int main(void) {
    pthread_t worker;
    struct session *session = calloc(1, sizeof *session);
    pthread_create(&worker, NULL, serve, session);
    int answer = finish(session);
    pthread_join(worker, NULL);
    assert(answer == 42);
    assert(traffic == 64);
    return 0;
}
