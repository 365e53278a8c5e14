// exercises: strict hand-over between two threads with one condition variable and signals sent outside the lock
#include <assert.h>
#include <pthread.h>

enum { ROUNDS = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn, log_[2 * ROUNDS], logged;

static void *player(void *arg) {
    int me = *(int *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        while (turn != me)
            pthread_cond_wait(&turn_changed, &lock);
        log_[logged++] = me;
        turn = 1 - me;
        pthread_mutex_unlock(&lock);
        pthread_cond_signal(&turn_changed);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int ids[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, player, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(logged == 2 * ROUNDS);
    for (int i = 0; i < logged; i++)
        assert(log_[i] == i % 2);
    return 0;
}
