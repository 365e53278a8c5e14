// A probe touches the status register of a device, for the effect that reading it has; the device may be unplugged.
// bug: the probe does not check that the device is still there before it reads the register
//@ expect: null-dereference
//@ also: data-race
//@ consequence: crash
#include <pthread.h>
#include <stddef.h>

struct device {
    volatile int status;
    int irq;
};

static struct device uart = {.status = 1, .irq = 4};
static struct device *plugged = &uart;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *probe(void *arg) {
    pthread_mutex_lock(&lock);
    (void)plugged->status;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *unplug(void *arg) {
    pthread_mutex_lock(&lock);
    plugged = NULL;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t prober, user;
    pthread_create(&prober, NULL, probe, NULL);
    pthread_create(&user, NULL, unplug, NULL);
    pthread_join(prober, NULL);
    pthread_join(user, NULL);
    return uart.irq == 4 ? 0 : 1;
}
