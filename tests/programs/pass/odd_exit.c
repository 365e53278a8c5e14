// corrected: the number of warnings is the exit status, and none gets lost
#include <pthread.h>

static int warnings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *lint(void *arg) {
    const int *found = arg;
    pthread_mutex_lock(&lock);
    int sum = warnings;
    warnings = sum + *found;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    static const int found[] = {2, 4};
    pthread_t linters[2];
    pthread_create(&linters[0], NULL, lint, (void *)&found[0]);
    pthread_create(&linters[1], NULL, lint, (void *)&found[1]);
    pthread_join(linters[0], NULL);
    pthread_join(linters[1], NULL);
    return warnings;
}
