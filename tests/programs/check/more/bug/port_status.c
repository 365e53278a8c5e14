// A serial port keeps its state in bits of one word: the receiver sets its bits under its lock, the sender under its.
// bug: the bits share their memory, so the two locks protect nothing and a bit may be lost
//@ expect: data-race receive send
//@ also: atomicity-violation
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>

static struct {
    unsigned has_data : 1;
    unsigned errors : 3;
    unsigned is_sent : 1;
    unsigned queued : 3;
} port;
static pthread_mutex_t receive_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t send_lock = PTHREAD_MUTEX_INITIALIZER;

static void *receive(void *arg) {
    pthread_mutex_lock(&receive_lock);
    port.has_data = 1; // @receive
    pthread_mutex_unlock(&receive_lock);
    return arg;
}

static void *send(void *arg) {
    pthread_mutex_lock(&send_lock);
    port.is_sent = 1; // @send
    pthread_mutex_unlock(&send_lock);
    return arg;
}

int main(void) {
    pthread_t receiver, sender;
    pthread_create(&receiver, NULL, receive, NULL);
    pthread_create(&sender, NULL, send, NULL);
    pthread_join(receiver, NULL);
    pthread_join(sender, NULL);
    assert(port.has_data == 1 && port.is_sent == 1);
    return 0;
}
