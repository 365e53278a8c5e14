// Two workers take coins out of a purse: each reads the top coin and swings the top to the next one, and tries again
// if the other was quicker.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct coin {
    struct coin *next;
    int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct coin *top;

static struct coin *look(void) {
    pthread_mutex_lock(&lock);
    struct coin *coin = top;
    pthread_mutex_unlock(&lock);
    return coin;
}

static int take(struct coin *coin) {
    pthread_mutex_lock(&lock);
    int is_mine = coin == top;
    if (is_mine)
        top = coin->next;
    pthread_mutex_unlock(&lock);
    return is_mine;
}

static void *spend(void *arg) {
    int *spent = arg;
    struct coin *coin = look();
    while (!take(coin))
        coin = look();
    *spent = coin->value;
    free(coin);
    return NULL;
}

int main(void) {
    pthread_t workers[2];
    int spent[2] = {0};
    for (int i = 0; i < 3; i++) {
        struct coin *coin = malloc(sizeof *coin);
        *coin = (struct coin){.next = top, .value = 5};
        top = coin;
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, spend, &spent[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    assert(spent[0] + spent[1] == 10);
    free(top);
    return 0;
}
