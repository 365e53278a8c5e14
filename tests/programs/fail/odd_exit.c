// bug: the number of warnings is the exit status, and a warning gets lost
// expect: exit
#include <pthread.h>

static int warnings;

static void *lint(void *arg) {
    const int *found = arg;
    int sum = warnings;
    warnings = sum + *found;
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
