// A deadlock: locks are called by the expressions that calls are given, global ones by their names.
#include <pthread.h>
#include <stddef.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 5}, {PTHREAD_MUTEX_INITIALIZER, 7}};

static void transfer(struct account *from, struct account *to) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance--;
    to->balance++;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *back(void *unused) {
    (void)unused;
    transfer(&accounts[1], &accounts[0]);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, back, NULL);
    transfer(&accounts[0], &accounts[1]);
    pthread_join(thread, NULL);
}
