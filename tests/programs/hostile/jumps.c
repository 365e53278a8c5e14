// hostile: setjmp and longjmp over locked regions, alloca, deep recursion and large frames in threads
#include <alloca.h>
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int jumped, total;

static void fail(jmp_buf *back, int depth) {
    if (depth == 0) {
        jumped++;
        longjmp(*back, 5);
    }
    fail(back, depth - 1);
}

__attribute__((noinline)) static int deep(int n, int *shared) {
    char frame[256];
    memset(frame, n, sizeof frame);
    if (n == 0)
        return *shared;
    return deep(n - 1, shared) + (frame[17] == (char)n);
}

static void *worker(void *arg) {
    (void)arg;
    for (volatile int i = 0; i < 4; i++) {
        jmp_buf back;
        pthread_mutex_lock(&lock);
        if (setjmp(back) == 0)
            fail(&back, 10);
        total += deep(50, &jumped) - jumped;
        int *block = alloca(sizeof *block * (i + 1));
        block[i] = i;
        total += block[i] - i;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(jumped == 12 && total == 12 * 50);
    return 0;
}
