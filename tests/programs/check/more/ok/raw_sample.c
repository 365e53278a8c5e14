// A sampler allocates a record and fills it in; an uploader that finds the record sends what is in it.
//@ none
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct record {
    int channel;
    int value;
};

static _Atomic(struct record *) last;
static int sent;

static void *upload(void *arg) {
    struct record *record = atomic_load(&last);
    if (record != NULL)
        sent = record->channel + record->value;
    return arg;
}

static void *sample(void *arg) {
    struct record *record = malloc(sizeof *record);
    record->channel = 2;
    record->value = 40;
    atomic_store(&last, record);
    return arg;
}

int main(void) {
    pthread_t uploader, sampler;
    sent = 42;
    pthread_create(&uploader, NULL, upload, NULL);
    pthread_create(&sampler, NULL, sample, NULL);
    pthread_join(uploader, NULL);
    pthread_join(sampler, NULL);
    free(atomic_load(&last));
    return sent == 42 ? 0 : 1;
}
