// A failing status that `main` returns.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first;

static void *arrive(void *number) {
    pthread_mutex_lock(&lock);
    if (first == 0)
        first = *(int *)number;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    int numbers[] = {1, 2};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, arrive, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (first != 1)
        return 3;
    return 0;
}
