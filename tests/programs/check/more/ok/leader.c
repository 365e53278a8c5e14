// Candidates apply for the lead; the first wins and then fills in where it can be reached. The second one, having
// lost, asks the winner.
//@ none
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

struct candidate {
    int number;
    _Atomic(const char *) address;
};

static struct candidate candidates[2] = {{.number = 1}, {.number = 2}};
static _Atomic(struct candidate *) leader;

static void *apply(void *arg) {
    struct candidate *me = arg;
    struct candidate *winner = NULL;
    if (atomic_compare_exchange_strong(&leader, &winner, me)) {
        atomic_store(&me->address, "10.0.0.1");
        return NULL;
    }
    const char *address = atomic_load(&winner->address);
    while (address == NULL) {
        sched_yield();
        address = atomic_load(&winner->address);
    }
    assert(address[0] == '1');
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, apply, &candidates[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
