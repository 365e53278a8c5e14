// hostile: many threads on one stream: whole lines stay whole, flockfile holds, and the buffer is nobody's but libc's
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, LINES = 6 };

static FILE *stream;

static void *writes(void *arg) {
    int me = *(int *)arg;
    for (int i = 0; i < LINES; i++) {
        if (i % 3 == 0) {
            fprintf(stream, "thread %d says line %d and no other\n", me, i);
        } else if (i % 3 == 1) {
            char line[64];
            snprintf(line, sizeof line, "thread %d says line %d and no other\n", me, i);
            fputs(line, stream);
            fflush(stream);
        } else {
            flockfile(stream);
            fprintf(stream, "thread %d ", me);
            fprintf(stream, "says line %d ", i);
            fputs("and no other\n", stream);
            funlockfile(stream);
        }
        printf("%d.%d\n", me, i);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int numbers[THREADS], next[THREADS] = {0}, seen = 0;
    char line[128];
    stream = tmpfile();
    assert(stream);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, writes, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    rewind(stream);
    for (int who, what; fgets(line, sizeof line, stream); seen++) {
        assert(sscanf(line, "thread %d says line %d and no other\n", &who, &what) == 2);
        assert(what == next[who]++ && strstr(line, "and no other\n"));
    }
    assert(seen == THREADS * LINES);
    fclose(stream);
    return 0;
}
