// A meter is read in one of two units, each in a line of its own.
//@ none
#include <pthread.h>
#include <stdio.h>

struct meter {
    int is_metric;
    int count;
};

static struct meter meter = {1, 2};
static int shown;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *measure(void *arg) {
    pthread_mutex_lock(&lock);
    meter.count = 5;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *show(void *arg) {
    int reading;
    pthread_mutex_lock(&lock);
    if (meter.is_metric)
        reading = meter.count;
    else
        reading = meter.count;
    pthread_mutex_unlock(&lock);
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
