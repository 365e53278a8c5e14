// A request looks its session up in the table and then renews it; a reaper removes the session and frees it.
// bug: the table's lock is given up between looking up and renewing, and the reaper may free the session in between
//@ expect: use-after-free
//@ also: atomicity-violation
//@ also: data-race
//@ consequence: crash|none
#include <pthread.h>
#include <stdlib.h>

struct session {
    int user;
    int renewed;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct session *table[2];

static struct session *find(int user) {
    for (int i = 0; i < 2; i++)
        if (table[i] != NULL && table[i]->user == user)
            return table[i];
    return NULL;
}

static void *request(void *arg) {
    pthread_mutex_lock(&table_lock);
    struct session *session = find(1);
    pthread_mutex_unlock(&table_lock);
    pthread_mutex_lock(&table_lock);
    if (session != NULL)
        session->renewed++; // @renew
    pthread_mutex_unlock(&table_lock);
    return arg;
}

static void *reap(void *arg) {
    pthread_mutex_lock(&table_lock);
    free(table[0]); // @reap
    table[0] = NULL;
    pthread_mutex_unlock(&table_lock);
    return arg;
}

int main(void) {
    pthread_t worker, reaper;
    for (int i = 0; i < 2; i++) {
        table[i] = calloc(1, sizeof *table[i]);
        table[i]->user = i + 1;
    }
    pthread_create(&worker, NULL, request, NULL);
    pthread_create(&reaper, NULL, reap, NULL);
    pthread_join(worker, NULL);
    pthread_join(reaper, NULL);
    free(table[1]);
    return 0;
}
