// hostile: the environment is changed and read by many threads, which libc's lock and copies have to survive
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITERS = 2, ROUNDS = 10 };

static void *sets(void *arg) {
    char name[32], value[32];
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(name, sizeof name, "RADDLE_%d_%d", *(int *)arg, i);
        snprintf(value, sizeof value, "value %d", i);
        assert(setenv(name, value, 1) == 0);
        if (i % 3 == 2)
            assert(unsetenv(name) == 0);
        assert(setenv("RADDLE_COMMON", value, 1) == 0);
    }
    return NULL;
}

static void *reads(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        const char *value = getenv("RADDLE_COMMON");
        assert(value && strncmp(value, "value ", 6) == 0);
    }
    return arg;
}

int main(void) {
    pthread_t threads[WRITERS + 1];
    int numbers[WRITERS];
    setenv("RADDLE_COMMON", "value 0", 1);
    for (int i = 0; i < WRITERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, sets, &numbers[i]);
    }
    pthread_create(&threads[WRITERS], NULL, reads, NULL);
    for (int i = 0; i <= WRITERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WRITERS; i++)
        for (int k = 0; k < ROUNDS; k++) {
            char name[32];
            snprintf(name, sizeof name, "RADDLE_%d_%d", i, k);
            assert(!getenv(name) == (k % 3 == 2));
        }
    return 0;
}
