// A server puts a lease into a store and a client looks its lease up, each under the store's lock. The process ends
// with status 2 if the client went without.
// bug: nothing says that the lease is put there first
//@ expect: exit|atomicity-violation
//@ consequence: exit
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int leases[4];
static int address;

static void *put(void *arg) {
    pthread_mutex_lock(&lock);
    leases[2] = 77;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *get(void *arg) {
    pthread_mutex_lock(&lock);
    address = leases[2];
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t server, client;
    pthread_create(&server, NULL, put, NULL);
    pthread_create(&client, NULL, get, NULL);
    pthread_join(server, NULL);
    pthread_join(client, NULL);
    return address == 77 ? 0 : 2;
}
