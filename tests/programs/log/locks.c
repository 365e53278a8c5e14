// logs: every acquire, release, read and write of plain variables under two mutexes, in the order in which they happened
//
// Each lock has its own log, written while the lock is held, so its order is the order of the lock's regions. Printed are
//   object NAME ADDRESS SIZE        a variable or a lock
//   ordered LOCK THREAD OP NAME VALUE   one line an operation; LOCK's lines are in their real order
// The log goes to the file named by the first argument, or to standard output.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 4, CAPACITY = 1000 };

struct entry {
    int thread;
    const char *op, *name;
    unsigned value;
};

struct guarded {
    pthread_mutex_t lock;
    unsigned first, second;
    int logged;
    struct entry log[CAPACITY];
};

static struct guarded left = {.lock = PTHREAD_MUTEX_INITIALIZER}, right = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note(struct guarded *g, int thread, const char *op, const char *name, unsigned value) {
    g->log[g->logged++] = (struct entry){thread, op, name, value};
}

__attribute__((noinline)) static unsigned read_plain(unsigned *variable) {
    return *variable;
}

__attribute__((noinline)) static void write_plain(unsigned *variable, unsigned value) {
    *variable = value;
}

static void update(struct guarded *g, const char *names[3], int thread, unsigned fresh) {
    pthread_mutex_lock(&g->lock);
    note(g, thread, "acquire", names[0], 0);
    unsigned seen = read_plain(&g->first);
    note(g, thread, "read", names[1], seen);
    note(g, thread, "write", names[2], seen + 1);
    write_plain(&g->second, seen + 1);
    note(g, thread, "write", names[1], fresh);
    write_plain(&g->first, fresh);
    note(g, thread, "read", names[2], read_plain(&g->second));
    note(g, thread, "release", names[0], 0);
    pthread_mutex_unlock(&g->lock);
}

static void *worker(void *arg) {
    static const char *left_names[] = {"left", "left.first", "left.second"};
    static const char *right_names[] = {"right", "right.first", "right.second"};
    int thread = (int)(intptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        update(&left, left_names, thread, 1000 * thread + i);
        update(&right, right_names, thread, 1000 * thread + 500 + i);
    }
    return NULL;
}

static void print(FILE *out, const char *name, struct guarded *g) {
    fprintf(out, "object %s %p %zu\n", name, (void *)&g->lock, sizeof g->lock);
    fprintf(out, "object %s.first %p 4\nobject %s.second %p 4\n", name, (void *)&g->first, name, (void *)&g->second);
    for (int i = 0; i < g->logged; i++)
        fprintf(out, "ordered %s %d %s %s %u\n", name, g->log[i].thread, g->log[i].op, g->log[i].name, g->log[i].value);
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
    print(out, "left", &left);
    print(out, "right", &right);
    return fclose(out) == 0 ? 0 : 1;
}
