// A sensor task stores a reading and raises a flag; the control loop polls the flag a few times and uses the reading.
// bug: the flag is volatile, which orders nothing, and no atomic. The race on the reading follows from that on the flag:
// in no run does it come first
//@ expect: data-race raise poll
//@ also: data-race store use
//@ consequence: none|assertion
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static volatile int is_ready;
static int reading;

static void *sense(void *arg) {
    reading = 37; // @store
    is_ready = 1; // @raise
    return arg;
}

static void *control(void *arg) {
    for (int polls = 0; polls < 5; polls++) {
        if (is_ready) { // @poll
            assert(reading == 37); // @use
            break;
        }
        sched_yield();
    }
    return arg;
}

int main(void) {
    pthread_t sensor, controller;
    pthread_create(&sensor, NULL, sense, NULL);
    pthread_create(&controller, NULL, control, NULL);
    pthread_join(sensor, NULL);
    pthread_join(controller, NULL);
    return 0;
}
