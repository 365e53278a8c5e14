// hostile: threads that wait in loops which show no event and call nothing, as libraries' do; what they wait for is done by
// threads that need the turn
#include <assert.h>
#include <pthread.h>

static int flags[3];
static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void spin_until_set(int *flag) {
    asm volatile("1: pause\n cmpl $0, (%0)\n je 1b" : : "r"(flag) : "memory", "cc");
}

static void *follows(void *arg) {
    long own = (long)arg;
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    if (own > 0)
        spin_until_set(&flags[own - 1]);
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    __atomic_store_n(&flags[own], 1, __ATOMIC_RELEASE);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (long i = 2; i >= 0; i--)
        pthread_create(&threads[i], NULL, follows, (void *)i);
    spin_until_set(&flags[2]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 6);
    return 0;
}
