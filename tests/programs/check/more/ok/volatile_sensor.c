// A sensor task stores a reading and raises a flag; the control loop polls the flag a few times and uses the reading.
//@ none
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int is_ready;
static int reading;

static void *sense(void *arg) {
    reading = 37;
    is_ready = 1;
    return arg;
}

static void *control(void *arg) {
    for (int polls = 0; polls < 5; polls++) {
        if (is_ready) {
            assert(reading == 37);
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
