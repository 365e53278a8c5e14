// exercises: named semaphores: sem_open by two names for one object, sem_close, sem_unlink, a hand-over through them
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 6 };

static sem_t *ping, *pong;
static int ball;

static void *opponent(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(ping);
        assert(ball == 2 * i + 1);
        ball++;
        sem_post(pong);
    }
    return NULL;
}

int main(void) {
    char first[64], second[64];
    pthread_t thread;
    /* A name of its own for every run, so that two at the same time don't meet. */
    snprintf(first, sizeof first, "/raddle-test-ping-%d", (int)getpid());
    snprintf(second, sizeof second, "/raddle-test-pong-%d", (int)getpid());
    ping = sem_open(first, O_CREAT | O_EXCL, 0600, 0);
    pong = sem_open(second, O_CREAT | O_EXCL, 0600, 0);
    assert(ping != SEM_FAILED && pong != SEM_FAILED);
    assert(sem_open(first, O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED && errno == EEXIST);
    sem_t *same = sem_open(first, 0);
    assert(same == ping);
    pthread_create(&thread, NULL, opponent, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        ball++;
        sem_post(same);
        sem_wait(pong);
        assert(ball == 2 * i + 2);
    }
    pthread_join(thread, NULL);
    assert(sem_close(same) == 0 && sem_close(ping) == 0 && sem_close(pong) == 0);
    assert(sem_unlink(first) == 0 && sem_unlink(second) == 0);
    assert(sem_unlink(first) == -1 && errno == ENOENT);
    return 0;
}
