// bug: two threads increment a plain counter; one update may be lost
// expect: assertion
// smallest: yes
#include <assert.h>
#include <pthread.h>

static int counter;

static void *increment(void *arg) {
    (void)arg;
    counter++;
    return NULL;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, increment, NULL);
    increment(NULL);
    pthread_join(other, NULL);
    assert(counter == 2);
    return 0;
}
