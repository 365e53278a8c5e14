//@ none
// Two players take turns by a condition variable, and each says how often the ball has changed hands. The lock is given up
// in every wait, so the other player's hit always comes between two accesses of the same call; and no order of whole
// threads prints what every run prints, since each of them waits for the other.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int turn;
static int hits;
static int longest;

static void *player(void *argument) {
    int me = (int)(long)argument;
    int seen = 0;
    for (int round = 0; round < 3; round++) {
        pthread_mutex_lock(&table);
        int before = hits;
        while (turn != me)
            pthread_cond_wait(&moved, &table);
        if (hits - before > longest)
            longest = hits - before;
        hits++;
        seen = hits;
        turn = 1 - me;
        pthread_cond_broadcast(&moved);
        pthread_mutex_unlock(&table);
    }
    pthread_mutex_lock(&table);
    printf("player %d saw %d hits, waited for %d at most\n", me, seen, longest);
    pthread_mutex_unlock(&table);
    return NULL;
}

int main(void) {
    pthread_t players[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&players[i], NULL, player, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(players[i], NULL);
    return hits == 6 ? 0 : 1;
}
