// exercises: functions with variable arguments, which save what is in vector registers on the stack: whether the runtime
// was entered before must not be among it, nor what libc's functions left there while they waited
// races: yes
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACES = 200 };

struct padded { char first; long second; };

static struct padded *copies;
static volatile long shared;

__attribute__((noinline)) static void print(int digits) {
    char text[400];
    snprintf(text, sizeof text, "%.*f %Lf", digits, 0.1, 1.5L);
}

__attribute__((noinline)) static void copy(void) {
    struct padded places[PLACES];
    asm volatile("" : : "r"(places) : "memory");
    for (int i = 0; i < PLACES; i++) places[i].first = 1, places[i].second = i;
    asm volatile("" : : "r"(places) : "memory");
    for (int i = 0; i < PLACES; i++) copies[i] = places[i];
    for (int i = 0; i < PLACES; i++) shared ^= *(long *)&copies[i];
}

static void *work(void *argument) {
    for (int i = 0; i < 5; i++) {
        shared++;
        print(i);
        copy();
    }
    return argument;
}

int main(void) {
    copies = calloc(PLACES, sizeof *copies);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
        print(12);
        copy();
    }
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    copy();
}
