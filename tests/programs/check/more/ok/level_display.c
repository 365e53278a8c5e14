// A display shows the level of a tank, in full or in short; the tank may be taken out of service and freed.
//@ none
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct tank {
    int level;
    int capacity;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tank *tank;
static bool is_short;

static void *show(void *arg) {
    int *shown = arg;
    pthread_mutex_lock(&lock);
    struct tank *mine = tank;
    if (mine != NULL) {
        if (is_short)
            *shown = mine->level;
        else
            *shown = mine->level * 100 / mine->capacity;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *retire(void *arg) {
    pthread_mutex_lock(&lock);
    free(tank);
    tank = NULL;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(int argc, char **argv) {
    (void)argv;
    pthread_t display, crew;
    int shown = 0;
    is_short = argc > 1;
    tank = malloc(sizeof *tank);
    *tank = (struct tank){.level = 30, .capacity = 60};
    pthread_create(&display, NULL, show, &shown);
    pthread_create(&crew, NULL, retire, NULL);
    pthread_join(display, NULL);
    pthread_join(crew, NULL);
    return shown > 100;
}
