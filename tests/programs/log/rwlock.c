// logs: read and write regions of a pthread_rwlock and the accesses in them, thread by thread
//
// Readers overlap, so each thread has its own log; every written value is unique, so values tell the order. Printed are
//   object NAME ADDRESS SIZE
//   thread THREAD OP NAME VALUE     one line an operation, in the thread's own order
// The log goes to the file named by the first argument, or to standard output.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 4, CAPACITY = 200 };

struct entry {
    const char *op, *name;
    unsigned value;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static unsigned shared, copy;
static struct entry logs[THREADS + 1][CAPACITY];
static int logged[THREADS + 1];

static void note(int thread, const char *op, const char *name, unsigned value) {
    logs[thread][logged[thread]++] = (struct entry){op, name, value};
}

__attribute__((noinline)) static unsigned read_plain(unsigned *variable) {
    return *variable;
}

__attribute__((noinline)) static void write_plain(unsigned *variable, unsigned value) {
    *variable = value;
}

static void *worker(void *arg) {
    int thread = (int)(intptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        if ((i + thread) % 2) {
            pthread_rwlock_rdlock(&lock);
            note(thread, "acquire-read", "lock", 0);
            note(thread, "read", "shared", read_plain(&shared));
            note(thread, "read", "copy", read_plain(&copy));
            note(thread, "release-read", "lock", 0);
        } else {
            pthread_rwlock_wrlock(&lock);
            note(thread, "acquire-write", "lock", 0);
            write_plain(&shared, 100 * thread + i);
            note(thread, "write", "shared", 100 * thread + i);
            write_plain(&copy, 100 * thread + 50 + i);
            note(thread, "write", "copy", 100 * thread + 50 + i);
            note(thread, "release-write", "lock", 0);
        }
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    FILE *out = argc > 1 ? fopen(argv[1], "w") : stdout;
    if (!out)
        return 1;
    fprintf(out, "object lock %p %zu\nobject shared %p 4\nobject copy %p 4\n", (void *)&lock, sizeof lock,
            (void *)&shared, (void *)&copy);
    for (int t = 1; t <= THREADS; t++)
        for (int i = 0; i < logged[t]; i++)
            fprintf(out, "thread %d %s %s %u\n", t, logs[t][i].op, logs[t][i].name, logs[t][i].value);
    return fclose(out) == 0 ? 0 : 1;
}
