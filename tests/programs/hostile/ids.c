// hostile: ids of the process, of its threads and of a child, handed to every call that takes one, by libc's functions, by
// syscall() and in paths below /proc
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static sem_t ready, done;
static atomic_int other, caught;

static void catches(int signal) {
    (void)signal;
    caught++;
}

static void *waits(void *arg) {
    (void)arg;
    other = gettid();
    sem_post(&ready);
    while (sem_wait(&done) != 0)
        ;
    return NULL;
}

static void of_scheduling(pid_t id) {
    cpu_set_t set;
    struct sched_param parameters;
    struct timespec slice;
    struct rlimit limit;
    assert(sched_getaffinity(id, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
    assert(sched_setaffinity(id, sizeof set, &set) == 0);
    assert(sched_getscheduler(id) == SCHED_OTHER);
    assert(sched_getparam(id, &parameters) == 0);
    assert(sched_setparam(id, &parameters) == 0);
    assert(sched_setscheduler(id, SCHED_OTHER, &parameters) == 0);
    assert(sched_rr_get_interval(id, &slice) == 0);
    assert(prlimit(id, RLIMIT_NOFILE, NULL, &limit) == 0);
    errno = 0;
    assert(getpriority(PRIO_PROCESS, id) != -1 || errno == 0);
    assert(syscall(SYS_sched_getaffinity, id, sizeof set, &set) > 0);
    assert(syscall(SYS_getpriority, PRIO_PROCESS, id) > 0);
    assert(syscall(SYS_ioprio_get, 1, id) >= 0);
}

static void of_process(pid_t id) {
    clockid_t clock;
    char from[4] = "abc", to[4] = "";
    struct iovec local = {to, 4}, remote = {from, 4};
    assert(setpriority(PRIO_PROCESS, id, getpriority(PRIO_PROCESS, id)) == 0);
    assert(clock_getcpuclockid(id, &clock) == 0);
    assert(process_vm_readv(id, &local, 1, &remote, 1, 0) == 4 && strcmp(to, "abc") == 0);
    assert(process_vm_writev(id, &local, 1, &remote, 1, 0) == 4);
    assert(getpgid(id) == getpgrp() && getpgid(0) == getpgrp() && getsid(id) == getsid(0));
    assert(kill(id, 0) == 0);
    int descriptor = syscall(SYS_pidfd_open, id, 0);
    assert(descriptor >= 0 || errno == ENOSYS || errno == EPERM);
    if (descriptor >= 0)
        close(descriptor);
    int pair[2];
    assert(pipe(pair) == 0 && fcntl(pair[0], F_SETOWN, id) == 0 && fcntl(pair[0], F_GETOWN) == id);
    close(pair[0]);
    close(pair[1]);
}

static void of_paths(pid_t process, pid_t thread) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "r");
    assert(maps && fgets(line, sizeof line, maps));
    fclose(maps);
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, thread);
    assert(stat(path, &status) == 0 && access(path, R_OK) == 0);
    int descriptor = open(path, O_RDONLY);
    assert(descriptor >= 0);
    close(descriptor);
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *tasks = opendir(path);
    assert(tasks);
    closedir(tasks);
}

int main(void) {
    sem_init(&ready, 0, 0);
    sem_init(&done, 0, 0);
    signal(SIGUSR1, catches);
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    sem_wait(&ready);
    assert(getpid() == gettid() && other != gettid());
    assert(syscall(SYS_getppid) == getppid());
    of_scheduling(0);
    of_scheduling(getpid());
    of_scheduling(other);
    of_process(getpid());
    of_paths(getpid(), gettid());
    of_paths(getpid(), other);
    assert(tgkill(getpid(), other, SIGUSR1) == 0);
    assert(syscall(SYS_tgkill, getpid(), other, SIGUSR1) == 0);
    assert(syscall(SYS_tkill, other, SIGUSR1) == 0);
    assert(tgkill(getpid(), gettid(), SIGUSR1) == 0);
    sem_post(&done);
    int gone = other;
    pthread_join(thread, NULL);
    assert(caught >= 2);
    cpu_set_t set;
    assert(sched_getaffinity(gone, sizeof set, &set) == -1 && errno == ESRCH);
    assert(tgkill(getpid(), gone, 0) == -1 && errno == ESRCH);
    int pair[2];
    assert(pipe(pair) == 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(pair[1]);
        _exit(read(pair[0], &byte, 1) == 0 ? 0 : 1);
    }
    assert(sched_getaffinity(child, sizeof set, &set) == 0);
    assert(getpgid(child) == getpgrp() && kill(child, 0) == 0);
    close(pair[0]);
    close(pair[1]);
    int status;
    assert(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}
