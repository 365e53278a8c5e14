// exercises: semaphores and a mutex shared with a forked child, which nobody schedules: no two runs need be the same
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
    sem_t asked, answered;
    pthread_mutex_t lock;
    int sum;
};

static struct shared *shared;

static void *asks(void *arg) {
    (void)arg;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&shared->lock);
        shared->sum += 1;
        pthread_mutex_unlock(&shared->lock);
        sem_post(&shared->asked);
        sem_wait(&shared->answered);
    }
    return NULL;
}

static int answers(void) {
    for (int i = 0; i < 6; i++) {
        sem_wait(&shared->asked);
        pthread_mutex_lock(&shared->lock);
        shared->sum += 10;
        pthread_mutex_unlock(&shared->lock);
        sem_post(&shared->answered);
    }
    return 0;
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_t threads[2];
    int status;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(shared != MAP_FAILED);
    sem_init(&shared->asked, 1, 0);
    sem_init(&shared->answered, 1, 0);
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &attr);
    pid_t child = fork();
    if (child == 0)
        _exit(answers());
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, asks, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(waitpid(child, &status, 0) == child && status == 0);
    assert(shared->sum == 66);
    return 0;
}
