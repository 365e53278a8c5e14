// Several threads switch a valve and its indicator on; others check that the two agree.
// bug: neither side takes a lock, so a checker may see one switched and the other not yet
//@ expect: data-race set_valve set_valve
//@ expect: data-race set_lamp set_lamp
//@ expect: data-race set_valve get_valve
//@ expect: data-race set_lamp get_lamp
//@ consequence: assertion
#include <assert.h>
#include <pthread.h>

enum { SETTERS = 4, CHECKERS = 2 };

struct panel {
    int valve;
    int lamp;
};

static struct panel panel;

static void *set(void *arg) {
    panel.valve = 1; // @set_valve
    panel.lamp = -1; // @set_lamp
    return arg;
}

static void *check(void *arg) {
    int valve = panel.valve; // @get_valve
    int lamp = panel.lamp; // @get_lamp
    assert(valve + lamp == 0);
    return arg;
}

int main(void) {
    pthread_t threads[SETTERS + CHECKERS];
    for (int i = 0; i < SETTERS + CHECKERS; i++)
        pthread_create(&threads[i], NULL, i < SETTERS ? set : check, NULL);
    for (int i = 0; i < SETTERS + CHECKERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
