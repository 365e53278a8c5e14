// Lists a directory through a function of libc's that reads it out of sight.
#include <dirent.h>
#include <stdlib.h>

int main(void) {
    struct dirent **names;
    int count = scandir("/", &names, NULL, alphasort);
    for (int i = 0; i < count; i++) free(names[i]);
    free(names);
    return count > 0 ? 0 : 1;
}
