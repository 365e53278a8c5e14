// A meter is read in one of two units, each in a line of its own.
// bug: nothing orders the reading and the update
//@ expect: data-race update metric
//@ consequence: none
#include <pthread.h>
#include <stdio.h>

struct meter {
    int is_metric;
    int count;
};

static struct meter meter = {1, 2};
static int shown;

static void *measure(void *arg) {
    meter.count = 5; // @update
    return arg;
}

static void *show(void *arg) {
    int reading;
    if (meter.is_metric)
        reading = meter.count; // @metric
    else
        reading = meter.count; // the same access, for other units
    shown = reading;
    return arg;
}

int main(void) {
    pthread_t measurer, reader;
    pthread_create(&measurer, NULL, measure, NULL);
    pthread_create(&reader, NULL, show, NULL);
    pthread_join(measurer, NULL);
    pthread_join(reader, NULL);
    printf("%d\n", shown > 0);
    return 0;
}
