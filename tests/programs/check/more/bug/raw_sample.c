// A sampler allocates a record and fills it in; an uploader that finds the record sends what is in it.
// bug: the record can be found before it is filled in, and what is sent is whatever the memory held
//@ expect: data-race
//@ also: data-race
//@ also: atomicity-violation
//@ consequence: none|assertion|exit
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
        sent = record->channel + record->value; // @send
    return arg;
}

static void *sample(void *arg) {
    struct record *record = malloc(sizeof *record);
    atomic_store(&last, record);
    record->channel = 2;
    record->value = 40; // @fill
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
