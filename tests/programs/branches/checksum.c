// A value goes through arithmetic, a function and the heap before it decides.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned total = 7;

static unsigned mixed(unsigned number) {
    return (number * 2654435761u ^ number >> 3) % 1000;
}

static void *add(void *nothing) {
    pthread_mutex_lock(&lock);
    total += 5;
    pthread_mutex_unlock(&lock);
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    unsigned *kept = malloc(sizeof *kept);
    for (int i = 0; i < 2; i++) // not sensitive
        pthread_create(&threads[i], 0, add, 0);
    pthread_mutex_lock(&lock);
    *kept = mixed(total);
    pthread_mutex_unlock(&lock);
    if (*kept == mixed(12)) // sensitive
        puts("one was added");
    if (*kept == mixed(13)) // never: the total is 7, 12 or 17
        puts("impossible");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    if (total != 17) // all were added
        puts("lost");
    free(kept);
    return 0;
}
