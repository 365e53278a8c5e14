// Mirrors answer a request; the first answer wins, the others are thrown away, and a search in several places ends as
// soon as one thread has found something. Which one it is depends on the schedule and may.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIRRORS = 3, HAYSTACK = 24 };

struct answer {
    int mirror;
    char text[16];
};

static _Atomic(struct answer *) winner;
static atomic_int found_at = -1, looked_at;
static const char haystack[HAYSTACK + 1] = "...x.......x.......x....";

static void *ask(void *arg) {
    struct answer *answer = malloc(sizeof *answer), *none = NULL;
    answer->mirror = *(int *)arg;
    snprintf(answer->text, sizeof answer->text, "mirror %d", answer->mirror);
    if (!atomic_compare_exchange_strong_explicit(&winner, &none, answer, memory_order_acq_rel,
                                                 memory_order_acquire)) {
        // The one that has won is read, too.
        assert(strncmp(none->text, "mirror ", 7) == 0 && none->mirror != answer->mirror);
        free(answer);
    }
    return NULL;
}

static void *search(void *arg) {
    int part = *(int *)arg, each = HAYSTACK / MIRRORS;
    for (int i = part * each; i < (part + 1) * each; i++) {
        // Only a hint that the work may end early.
        if (atomic_load_explicit(&found_at, memory_order_relaxed) >= 0)
            break;
        atomic_fetch_add_explicit(&looked_at, 1, memory_order_relaxed);
        if (haystack[i] == 'x') {
            int none = -1;
            atomic_compare_exchange_strong(&found_at, &none, i);
            break;
        }
    }
    return NULL;
}

static void all(void *(*body)(void *), int numbers[MIRRORS]) {
    pthread_t threads[MIRRORS];
    for (int i = 0; i < MIRRORS; i++)
        pthread_create(&threads[i], NULL, body, &numbers[i]);
    for (int i = 0; i < MIRRORS; i++)
        pthread_join(threads[i], NULL);
}

int main(void) {
    int numbers[MIRRORS] = {0, 1, 2};
    all(ask, numbers);
    struct answer *answer = atomic_load(&winner);
    assert(answer != NULL && answer->mirror >= 0 && answer->mirror < MIRRORS);
    printf("first: %s\n", answer->text);
    free(answer);

    all(search, numbers);
    int at = atomic_load(&found_at);
    assert(at >= 0 && haystack[at] == 'x');
    printf("found at %d after %d looks\n", at, atomic_load(&looked_at));
    return 0;
}
