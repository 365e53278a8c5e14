// A thermostat keeps a temperature and its unit; a display that finds degrees Fahrenheit converts them.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_fahrenheit;
static int degrees = 20;

static void *show(void *arg) {
    pthread_mutex_lock(&lock);
    int celsius = degrees;
    if (is_fahrenheit)
        celsius = (degrees - 32) * 5 / 9;
    pthread_mutex_unlock(&lock);
    assert(celsius == 20);
    return arg;
}

static void *switch_unit(void *arg) {
    pthread_mutex_lock(&lock);
    is_fahrenheit = true;
    degrees = 68;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t display, user;
    pthread_create(&display, NULL, show, NULL);
    pthread_create(&user, NULL, switch_unit, NULL);
    pthread_join(display, NULL);
    pthread_join(user, NULL);
    return 0;
}
