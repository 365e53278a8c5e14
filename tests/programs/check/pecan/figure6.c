// PECAN, figure 6: a connection makes its multiplexer when it gets a handler; a call that comes first finds none. The
// reader takes the lock, the writer does not.
//@ expect: data-race 1 2
//@ consequence: crash
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct multiplexer {
    int channels;
};

struct connection {
    pthread_mutex_t lock;
    struct multiplexer *multiplexer;
};

static struct connection connection = {PTHREAD_MUTEX_INITIALIZER, NULL};

static struct multiplexer *make_multiplexer(int channels) {
    struct multiplexer *multiplexer = malloc(sizeof *multiplexer);
    multiplexer->channels = channels;
    return multiplexer;
}

static void set_handler(struct connection *to, int channels) {
    to->multiplexer = make_multiplexer(channels); // @1
}

static int invoke(struct connection *on) {
    pthread_mutex_lock(&on->lock);
    struct multiplexer *multiplexer = on->multiplexer; // @2
    pthread_mutex_unlock(&on->lock);
    if (multiplexer == NULL) {
        fputs("the connection is not established\n", stderr);
        abort();
    }
    return multiplexer->channels;
}

static void *call(void *arg) {
    int *channels = arg;
    *channels = invoke(&connection);
    return NULL;
}

int main(void) {
    pthread_t caller;
    int channels = 0;
    pthread_create(&caller, NULL, call, &channels);
    set_handler(&connection, 4);
    pthread_join(caller, NULL);
    free(connection.multiplexer);
    return channels == 4 ? 0 : 1;
}
