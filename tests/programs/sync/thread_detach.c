// exercises: pthread_detach (by the creator, by the thread itself, by attribute) and stack-size attributes
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t finished;
static int sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(int amount) {
    pthread_mutex_lock(&lock);
    sum += amount;
    pthread_mutex_unlock(&lock);
    sem_post(&finished);
}

static void *plain(void *arg) {
    add(*(int *)arg);
    return NULL;
}

static void *detaches_itself(void *arg) {
    assert(pthread_detach(pthread_self()) == 0);
    add(*(int *)arg);
    return NULL;
}

int main(void) {
    static int one = 1, ten = 10, hundred = 100;
    pthread_t a, b, c;
    pthread_attr_t attr;
    int state;
    sem_init(&finished, 0, 0);

    assert(pthread_create(&a, NULL, plain, &one) == 0);
    assert(pthread_detach(a) == 0);
    assert(pthread_create(&b, NULL, detaches_itself, &ten) == 0);

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    assert(pthread_create(&c, &attr, plain, &hundred) == 0);
    assert(pthread_attr_getdetachstate(&attr, &state) == 0 && state == PTHREAD_CREATE_DETACHED);
    pthread_attr_destroy(&attr);

    for (int i = 0; i < 3; i++)
        sem_wait(&finished);
    pthread_mutex_lock(&lock);
    assert(sum == 111);
    pthread_mutex_unlock(&lock);
    return 0;
}
