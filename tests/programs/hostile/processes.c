// hostile: fork from several threads, posix_spawn, system and popen while other threads run
#include <assert.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *works(void *arg) {
    (void)arg;
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *forks(void *arg) {
    int code = *(int *)arg, status;
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0)
        _exit(code);
    assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == code);
    return NULL;
}

static void *spawns(void *arg) {
    char *argv[] = {"sh", "-c", "exit 5", NULL}, line[16] = "";
    int status;
    pid_t pid;
    (void)arg;
    assert(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) == 0);
    assert(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
    assert(WEXITSTATUS(system("exit 6")) == 6);
    FILE *pipe = popen("echo raddle", "r");
    assert(pipe && fgets(line, sizeof line, pipe) && strcmp(line, "raddle\n") == 0);
    pclose(pipe);
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    int codes[2] = {3, 4};
    pthread_create(&threads[0], NULL, works, NULL);
    pthread_create(&threads[1], NULL, forks, &codes[0]);
    pthread_create(&threads[2], NULL, forks, &codes[1]);
    pthread_create(&threads[3], NULL, spawns, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 20);
    return 0;
}
