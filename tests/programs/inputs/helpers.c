// Runs helpers and hears from them; a timer's signals interrupt two threads meanwhile. Fails at the end.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t alarms;
static volatile int spins;

static void on_alarm(int signal) { alarms += signal == SIGALRM; }

static void *spin(void *arg) {
    for (int i = 0; i < 20000; i++) spins++;
    return arg;
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 3000}, {0, 3000}};
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, spin, NULL);
    char command[300], line[128];
    snprintf(command, sizeof command, "cat %s", argc > 1 ? argv[1] : "/dev/null");
    FILE *helper = popen(command, "r");
    while (helper && !fgets(line, sizeof line, helper) && errno == EINTR) clearerr(helper);
    printf("helper says %s", line);
    fflush(stdout);
    printf("status %d\n", pclose(helper));
    fflush(stdout);
    int pair[2];
    if (pipe(pair)) return 1;
    pid_t child = fork();
    if (child == 0) {
        dprintf(pair[1], "child %d", 42);
        _exit(5);
    }
    close(pair[1]);
    int len = 0, got;
    while ((got = read(pair[0], line + len, sizeof line - len)) > 0 || (got < 0 && errno == EINTR)) len += got > 0 ? got : 0;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    printf("%.*s ended with %d\n", len, line, WEXITSTATUS(status));
    while (alarms < 5) pause();
    memset(&often, 0, sizeof often);
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_join(thread, NULL);
    printf("%d alarms, %d spins\n", (int)alarms, spins);
    return 7;
}
