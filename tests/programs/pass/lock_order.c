// corrected: both threads take the mutexes in the same order
// smallest: yes
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static int moved;

static void *forwards(void *arg) {
    (void)arg;
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    moved++;
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return NULL;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, forwards, NULL);
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    moved--;
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    pthread_join(other, NULL);
    return moved;
}
