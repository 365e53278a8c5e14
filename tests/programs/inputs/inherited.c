// What a process inherits from whoever started it: ignored signals, and limits.
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void) {
    struct sigaction hangup;
    struct rlimit files;
    sigaction(SIGHUP, NULL, &hangup);
    getrlimit(RLIMIT_NOFILE, &files);
    printf("SIGHUP is %s\n", hangup.sa_handler == SIG_IGN ? "ignored" : "not ignored");
    printf("%lu files, or %ld\n", (unsigned long)files.rlim_cur, sysconf(_SC_OPEN_MAX));
    return 7;
}
