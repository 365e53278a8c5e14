// Asks the outside by functions that libc makes of several calls: directories, many messages, a stream's other file.
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static const char *directory;

static int is_shown(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void *lists(void *arg) {
    struct dirent **names;
    int count = scandir(directory, &names, is_shown, alphasort);
    for (int i = 0; i < count; i++) {
        printf("entry %s\n", names[i]->d_name);
        free(names[i]);
    }
    free(names);
    assert(scandir("/no such directory", &names, NULL, NULL) == -1);
    return arg;
}

static void globs(void) {
    char pattern[4096];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/t*", directory);
    int result = glob(pattern, 0, NULL, &found);
    printf("glob %d\n", result);
    for (size_t i = 0; result == 0 && i < found.gl_pathc; i++)
        printf("glob %s\n", strrchr(found.gl_pathv[i], '/'));
    globfree(&found);
}

static void reopens(void) {
    char path[4096], line[64] = "";
    snprintf(path, sizeof path, "%s/one", directory);
    assert(freopen(path, "r", stdin) == stdin);
    assert(fgets(line, sizeof line, stdin));
    printf("stdin says %s", line);
    assert(freopen("/dev/null", "r", stdin) == stdin);
    assert(!fgets(line, sizeof line, stdin));
}

static void sends_many(void) {
    int ends[2];
    char sent[3][8] = {"a", "bb", "ccc"}, got[4][8];
    struct mmsghdr out[3], in[4];
    struct iovec from[3], to[4];
    memset(out, 0, sizeof out);
    memset(in, 0, sizeof in);
    assert(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    for (int i = 0; i < 4; i++) {
        to[i] = (struct iovec){got[i], sizeof got[i]};
        in[i].msg_hdr.msg_iov = &to[i];
        in[i].msg_hdr.msg_iovlen = 1;
    }
    for (int i = 0; i < 3; i++) {
        from[i] = (struct iovec){sent[i], strlen(sent[i]) + 1};
        out[i].msg_hdr.msg_iov = &from[i];
        out[i].msg_hdr.msg_iovlen = 1;
    }
    assert(sendmmsg(ends[0], out, 3, 0) == 3 && out[2].msg_len == 4);
    assert(recvmmsg(ends[1], in, 4, MSG_WAITFORONE, NULL) == 3);
    for (int i = 0; i < 3; i++)
        assert(in[i].msg_len == strlen(sent[i]) + 1 && strcmp(got[i], sent[i]) == 0);
}

int main(int argc, char **argv) {
    pthread_t thread;
    assert(argc == 2);
    directory = argv[1];
    pthread_create(&thread, NULL, lists, NULL);
    pthread_join(thread, NULL);
    globs();
    reopens();
    sends_many();
    printf("processors %ld of %d\n", sysconf(_SC_NPROCESSORS_ONLN), get_nprocs_conf());
    return 3;
}
