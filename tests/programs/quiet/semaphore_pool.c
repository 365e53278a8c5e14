// Connections are lent out by a semaphore that counts them. Some borrowers wait, some only try and go away, some wait
// with a limit.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { CONNECTIONS = 2, BORROWERS = 3, ROUNDS = 3 };

struct connection {
    int is_lent;
    int queries;
};

static struct connection connections[CONNECTIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t available;
static atomic_int refused;

static struct connection *pick(void) {
    struct connection *picked = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CONNECTIONS && picked == NULL; i++)
        if (!connections[i].is_lent)
            picked = &connections[i];
    assert(picked != NULL);
    picked->is_lent = 1;
    pthread_mutex_unlock(&lock);
    return picked;
}

static void give_back(struct connection *connection) {
    pthread_mutex_lock(&lock);
    connection->is_lent = 0;
    pthread_mutex_unlock(&lock);
    sem_post(&available);
}

static void query(void) {
    struct connection *connection = pick();
    // Belongs to the borrower until it is given back.
    connection->queries++;
    give_back(connection);
}

static void *borrow(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        while (sem_wait(&available) != 0)
            assert(errno == EINTR);
        query();
    }
    return arg;
}

static void *borrow_if_free(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        if (sem_trywait(&available) == 0) {
            query();
        } else {
            assert(errno == EAGAIN);
            atomic_fetch_add(&refused, 1);
        }
    }
    return arg;
}

static void *borrow_in_time(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec limit;
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec += 1;
        if (sem_timedwait(&available, &limit) == 0) {
            query();
        } else {
            assert(errno == ETIMEDOUT || errno == EINTR);
            atomic_fetch_add(&refused, 1);
        }
    }
    return arg;
}

int main(void) {
    void *(*const bodies[BORROWERS])(void *) = {borrow, borrow_if_free, borrow_in_time};
    pthread_t borrowers[BORROWERS];
    sem_init(&available, 0, CONNECTIONS);
    for (int i = 0; i < BORROWERS; i++)
        pthread_create(&borrowers[i], NULL, bodies[i], NULL);
    for (int i = 0; i < BORROWERS; i++)
        pthread_join(borrowers[i], NULL);
    int queries = 0, left;
    for (int i = 0; i < CONNECTIONS; i++)
        queries += connections[i].queries;
    sem_getvalue(&available, &left);
    assert(left == CONNECTIONS);
    assert(queries + atomic_load(&refused) == BORROWERS * ROUNDS);
    sem_destroy(&available);
    printf("%d queries, %d refused\n", queries, atomic_load(&refused));
    return 0;
}
