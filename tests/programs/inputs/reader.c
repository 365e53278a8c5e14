// Asks the outside for all sorts of things in two threads, prints the answers, and fails.
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[256];

static const char *path(const char *name) {
    static __thread char text[300];
    snprintf(text, sizeof text, "%s/%s", dir, name);
    return text;
}

static void *list(void *arg) {
    DIR *d = opendir(dir);
    if (!d) return perror("opendir"), NULL;
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') printf("entry %s inode %lu\n", e->d_name, (unsigned long)e->d_ino);
    closedir(d);
    struct stat s;
    stat(path("two"), &s);
    printf("%ld bytes, changed at %ld.%09ld\n", (long)s.st_size, (long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
    return arg;
}

static unsigned sum(const char *text, long len) {
    unsigned hash = 0;
    for (long i = 0; i < len; i++) hash = hash * 31 + (unsigned char)text[i];
    return hash;
}

int main(int argc, char **argv) {
    snprintf(dir, sizeof dir, "%s", argc > 1 ? argv[1] : ".");
    pthread_t thread;
    pthread_create(&thread, NULL, list, NULL);
    char line[128], name[] = "/tmp/raddle-test-XXXXXX";
    FILE *file = fopen(path("one"), "r");
    if (!file) return perror("one"), 1;
    while (fgets(line, sizeof line, file)) printf("read %s", line);
    rewind(file);
    printf("again %s", fgets(line, sizeof line, file));
    fclose(file);

    int fd = open(path("two"), O_RDONLY);
    char *text = mmap(NULL, 100000, PROT_READ, MAP_PRIVATE, fd, 0);
    printf("mapped %08x at offset %ld\n", sum(text, 100000), (long)lseek(fd, 0, SEEK_END));
    munmap(text, 100000);
    printf("pread %zd\n", pread(fd, line, 10, 5));
    close(fd);

    unsigned char random[8];
    fd = open("/dev/urandom", O_RDONLY);
    if (read(fd, random, 8) != 8) return 2;
    close(fd);
    printf("random %02x%02x%02x%02x\n", random[0], random[1], random[2], random[3]);
    fd = mkstemp(name);
    if (write(fd, "temporary", 9) != 9 || lseek(fd, 0, SEEK_SET) || read(fd, line, 9) != 9) return 3;
    printf("%s %.9s\n", name, line);
    close(fd);
    unlink(name);
    if ((file = fopen("/proc/self/stat", "r"))) {
        int pid = 0;
        if (fscanf(file, "%d", &pid) == 1) printf("process %d\n", pid);
        fclose(file);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("faults %ld, processors %ld, time %ld\n", usage.ru_minflt, sysconf(_SC_NPROCESSORS_ONLN), (long)time(NULL));
    struct addrinfo *found = NULL;
    if (getaddrinfo("localhost", "80", NULL, &found) == 0) {
        for (struct addrinfo *a = found; a; a = a->ai_next) printf("family %d\n", a->ai_family);
        freeaddrinfo(found);
    }
    pthread_join(thread, NULL);
    return 7;
}
