// exercises: fork while other threads run and hold locks, pthread_atfork handlers, threads in the child, waitpid
#include <assert.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int prepared, in_parent, in_child, counter;

static void prepare(void) {
    pthread_mutex_lock(&lock);
    prepared++;
}

static void parent(void) {
    in_parent++;
    pthread_mutex_unlock(&lock);
}

static void child(void) {
    in_child++;
    pthread_mutex_unlock(&lock);
}

static void *count(void *arg) {
    for (int i = 0; i < *(int *)arg; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static int child_work(void) {
    pthread_t threads[2];
    int rounds = 4;
    pthread_mutex_lock(&lock);
    int before = counter;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, &rounds);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counter == before + 8 && in_child == 1 && in_parent == 0 ? 42 : 1;
}

int main(void) {
    pthread_t threads[2];
    int rounds = 10;
    assert(pthread_atfork(prepare, parent, child) == 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, &rounds);
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0)
        _exit(child_work());
    int status;
    assert(waitpid(pid, &status, 0) == pid);
    assert(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 20 && prepared == 1 && in_parent == 1 && in_child == 0);
    return 0;
}
