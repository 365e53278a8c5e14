// A booking goes from the branch to the head office; an audit that finds a booking under way looks into the branch.
// bug: the audit takes the branch's lock while it holds the head office's, the booking the other way round
//@ expect: deadlock
//@ consequence: deadlock
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t branch = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t head_office = PTHREAD_MUTEX_INITIALIZER;
static atomic_int under_way;
static int branch_total = 5, head_total = 5;

static void *audit(void *arg) {
    pthread_mutex_lock(&head_office);
    int total = head_total;
    if (atomic_load(&under_way) != 0) {
        pthread_mutex_lock(&branch);
        total = branch_total;
        pthread_mutex_unlock(&branch);
    }
    pthread_mutex_unlock(&head_office);
    assert(total == 5 || total == 6);
    return arg;
}

static void *book(void *arg) {
    pthread_mutex_lock(&branch);
    atomic_store(&under_way, 1);
    branch_total++;
    pthread_mutex_lock(&head_office);
    head_total++;
    pthread_mutex_unlock(&head_office);
    atomic_store(&under_way, 0);
    pthread_mutex_unlock(&branch);
    return arg;
}

int main(void) {
    pthread_t auditor, clerk;
    pthread_create(&auditor, NULL, audit, NULL);
    pthread_create(&clerk, NULL, book, NULL);
    pthread_join(auditor, NULL);
    pthread_join(clerk, NULL);
    return 0;
}
