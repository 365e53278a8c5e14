// hostile: vfork and exec, posix_spawn with redirections, exec of itself, fork handlers that lock, children with threads
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter, prepared;

static void prepare(void) {
    pthread_mutex_lock(&lock);
    prepared++;
}
static void release(void) { pthread_mutex_unlock(&lock); }

static void *works(void *arg) {
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static int code_of(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        assert(errno == EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void *vforks(void *arg) {
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 7", NULL);
        _exit(1);
    }
    assert(code_of(child) == 7);
    return arg;
}

static void *spawns(void *arg) {
    int ends[2];
    char text[32] = "", *argv[] = {"echo", "spoken", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    assert(pipe(ends) == 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    assert(posix_spawnp(&child, "echo", &actions, NULL, argv, environ) == 0);
    close(ends[1]);
    assert(read(ends[0], text, sizeof text) == 7 && strcmp(text, "spoken\n") == 0);
    assert(code_of(child) == 0);
    close(ends[0]);
    posix_spawn_file_actions_destroy(&actions);
    return arg;
}

/// A child that has threads of its own and takes locks that the parent's threads use.
static void *forks(void *arg) {
    pid_t child = fork();
    if (child == 0) {
        pthread_t threads[2];
        int before = counter;
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, works, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        _exit(counter == before + 20 ? 0 : 1);
    }
    assert(code_of(child) == 0);
    return arg;
}

int main(int argc, char **argv) {
    // The image that replaced the first one has threads, too.
    int again = argc > 1;
    pthread_t threads[4];
    pthread_atfork(prepare, release, release);
    pthread_create(&threads[0], NULL, works, NULL);
    pthread_create(&threads[1], NULL, again ? works : vforks, NULL);
    pthread_create(&threads[2], NULL, again ? works : spawns, NULL);
    pthread_create(&threads[3], NULL, again ? works : forks, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert(counter == (again ? 40 : 10) && prepared == !again);
    if (!again) {
        execl(argv[0], argv[0], "again", NULL);
        return 1;
    }
    return 0;
}
