// Goes through a directory by a function of libc's that reads it out of sight.
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <stddef.h>

static int visit(const char *path, const struct stat *stat, int kind, struct FTW *at) {
    return path == NULL || stat == NULL || kind < 0 || at == NULL;
}

int main(void) {
    return nftw("/proc/self/task", visit, 4, FTW_PHYS | FTW_MOUNT);
}
