// Asks the outside by functions that are seldom used, and for what the kernel gives every process anew. Fails at the end.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

uint32_t arc4random(void);
uint32_t arc4random_uniform(uint32_t);
void arc4random_buf(void *, size_t);

// What calls become with _FORTIFY_SOURCE.
ssize_t __readlink_chk(const char *, char *, size_t, size_t);
ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);
int __gethostname_chk(char *, size_t, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);

static volatile long spins;

static void *spin(void *argument) {
    for (int i = 0; i < 3000; i++) spins++;
    return argument;
}

static pid_t child(int status) {
    pid_t pid = fork();
    if (pid == 0) _exit(status);
    return pid;
}

int main(int argc, char **argv) {
    pthread_t thread;
    pthread_create(&thread, NULL, spin, NULL);

    struct tms used;
    clockid_t own, other;
    clock_t ticks = times(&used);
    pthread_getcpuclockid(thread, &other);
    clock_getcpuclockid(0, &own);
    printf("clock %ld, times %ld and %ld, clocks %d and %d\n", (long)clock(), (long)ticks, (long)used.tms_utime, own, other);
    if (clock() > 60 * CLOCKS_PER_SEC) return puts("a minute of work already"), 1;
    uint32_t low, high, core;
    uint64_t long_low, long_high, cycles[5] = {__rdtsc()};
    asm volatile("rdtsc" : "=a"(low), "=d"(high));
    cycles[1] = (uint64_t)high << 32 | low;
    asm volatile("lfence\n\trdtsc" : "=a"(long_low), "=d"(long_high) : : "memory");
    cycles[2] = long_high << 32 | long_low;
    asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(core));
    cycles[3] = (uint64_t)high << 32 | low;
    cycles[4] = __rdtscp(&core);
    for (int i = 0; i < 5; i++) printf("%s%lu", i ? ", " : "cycles ", (unsigned long)cycles[i]);
    for (int i = 1; i < 5; i++)
        if (cycles[i] <= cycles[i - 1]) return 9;
    // The directory is there in the recorded run alone, so that a replay takes a second less.
    char wait[200];
    snprintf(wait, sizeof wait, "test -d %s && sleep 1", argc > 1 ? argv[1] : "/");
    alarm(100);
    int waited = system(wait);
    printf("; waited: %d, alarm in %u s", waited, alarm(0));
    struct itimerval hour = {{0, 0}, {3600, 0}}, left, old;
    setitimer(ITIMER_REAL, &hour, NULL);
    getitimer(ITIMER_REAL, &left);
    setitimer(ITIMER_REAL, &hour, &old);
    printf("; left %ld.%06ld, then %ld.%06ld\n", (long)left.it_value.tv_sec, (long)left.it_value.tv_usec,
           (long)old.it_value.tv_sec, (long)old.it_value.tv_usec);
    struct itimerspec day = {{0, 0}, {86400, 0}}, before;
    timer_t timer;
    struct sigevent nothing = {.sigev_notify = SIGEV_NONE};
    timer_create(CLOCK_MONOTONIC, &nothing, &timer);
    for (int i = 0; i < 2; i++) timer_settime(timer, 0, &day, &before);
    printf("of a day left: %ld.%09ld\n", (long)before.it_value.tv_sec, before.it_value.tv_nsec);

    unsigned char bytes[4], drawn[16], canary[8];
    arc4random_buf(bytes, sizeof bytes);
    uint32_t below = arc4random_uniform(6);
    if (below >= 6 || arc4random_uniform(1) || arc4random_uniform(0)) return 2;
    printf("random %u, %u, %02x%02x\n", arc4random(), below, bytes[0], bytes[1]);
    memcpy(drawn, (void *)getauxval(AT_RANDOM), sizeof drawn);
    asm("mov %%fs:0x28, %%rax; mov %%rax, %0" : "=m"(canary) : : "rax");
    for (int i = 0; i < 16; i++) printf("%02x%c", drawn[i], i < 15 ? ' ' : '\n');
    for (int i = 0; i < 8; i++) printf("%02x%c", canary[i], i < 7 ? ' ' : '\n');

    char name[] = "/tmp/raddle-test-XXXXXX.txt", unused[] = "/tmp/raddle-test-XXXXXX";
    int fd = mkstemps(name, 4);
    if (write(fd, "temporary", 9) != 9) return 3;
    char text[10] = "";
    struct iovec vector = {text, 9};
    if (preadv2(fd, &vector, 1, 0, 0) != 9) return 4;
    printf("%s holds %s, %s is free\n", name, text, mktemp(unused));
    struct statfs room;
    struct statvfs more;
    fstatfs(fd, &room);
    printf("free %ld", (long)room.f_bfree);
    statfs(argc > 1 ? argv[1] : "/", &room);
    fstatvfs(fd, &more);
    printf(", %ld, %ld\n", (long)room.f_bfree, (long)more.f_bfree);
    close(fd);
    unlink(name);

    char link[300], again[300], host[300] = "";
    ssize_t len = __readlink_chk(argv[argc - 1], link, sizeof link, sizeof link);
    ssize_t same = __readlinkat_chk(AT_FDCWD, argv[argc - 1], again, sizeof again, sizeof again);
    if (len != same || (len > 0 && memcmp(link, again, len)) || __gethostname_chk(host, 299, 300)) return 8;
    struct pollfd polled = {0, POLLIN, 0};
    struct timespec moment = {0, 1000};
    int ready = __ppoll_chk(&polled, 1, &moment, NULL, sizeof polled);
    printf("a link to %.*s on %s, %d ready\n", (int)(len < 0 ? 0 : len), link, host, ready);

    int memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), lock = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    printf("objects %d, %d, %d\n", memory, lock, queue);
    int *shared = shmat(memory, NULL, 0);
    struct sembuf up = {0, 2, 0};
    if (shared == (void *)-1 || semop(lock, &up, 1) || semctl(lock, 0, GETVAL) != 2) return 10;
    *shared = semctl(lock, 0, SETVAL, 5);
    shmctl(memory, IPC_RMID, NULL);
    semctl(lock, 0, IPC_RMID);
    msgctl(queue, IPC_RMID, NULL);

    siginfo_t info;
    pid_t first = child(3), second = child(4);
    if (waitid(P_PID, first, &info, WEXITED) || info.si_pid != first) return 5;
    int status = 0, its = info.si_status;
    struct rusage usage;
    pid_t ended = wait3(&status, 0, &usage);
    if (ended != second || waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0) return 6;
    printf("children %d and %d ended with %d and %d\n", first, second, its, WEXITSTATUS(status));
    pthread_join(thread, NULL);
    return 7;
}
