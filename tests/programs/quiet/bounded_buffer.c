// Parcels go through a belt with four places: two packers, two loaders, condition variables for full and empty, and a
// belt that is closed when the last packer has gone.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { PLACES = 4, PACKERS = 2, LOADERS = 2, EACH = 6 };

struct belt {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    int parcels[PLACES];
    unsigned first, count;
    unsigned packers;
};

static struct belt belt = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
    .packers = PACKERS,
};

static void put(int parcel) {
    pthread_mutex_lock(&belt.lock);
    while (belt.count == PLACES)
        pthread_cond_wait(&belt.not_full, &belt.lock);
    belt.parcels[(belt.first + belt.count) % PLACES] = parcel;
    belt.count++;
    pthread_mutex_unlock(&belt.lock);
    pthread_cond_signal(&belt.not_empty);
}

static bool take(int *parcel) {
    pthread_mutex_lock(&belt.lock);
    while (belt.count == 0 && belt.packers > 0)
        pthread_cond_wait(&belt.not_empty, &belt.lock);
    bool there = belt.count > 0;
    if (there) {
        *parcel = belt.parcels[belt.first];
        belt.first = (belt.first + 1) % PLACES;
        belt.count--;
        pthread_cond_signal(&belt.not_full);
    }
    pthread_mutex_unlock(&belt.lock);
    return there;
}

static void leave(void) {
    pthread_mutex_lock(&belt.lock);
    if (--belt.packers == 0)
        pthread_cond_broadcast(&belt.not_empty);
    pthread_mutex_unlock(&belt.lock);
}

static void *pack(void *arg) {
    int number = *(int *)arg;
    for (int i = 0; i < EACH; i++)
        put(number * 100 + i);
    leave();
    return NULL;
}

static void *load(void *arg) {
    int *sum = arg, parcel, last[PACKERS] = {-1, -1};
    while (take(&parcel)) {
        // Parcels of one packer stay in order, whichever loader gets them.
        assert(parcel % 100 > last[parcel / 100]);
        last[parcel / 100] = parcel % 100;
        *sum += parcel % 100 + 1;
    }
    return NULL;
}

int main(void) {
    pthread_t packers[PACKERS], loaders[LOADERS];
    int numbers[PACKERS], sums[LOADERS] = {0};
    for (int i = 0; i < LOADERS; i++)
        pthread_create(&loaders[i], NULL, load, &sums[i]);
    for (int i = 0; i < PACKERS; i++) {
        numbers[i] = i;
        pthread_create(&packers[i], NULL, pack, &numbers[i]);
    }
    for (int i = 0; i < PACKERS; i++)
        pthread_join(packers[i], NULL);
    for (int i = 0; i < LOADERS; i++)
        pthread_join(loaders[i], NULL);
    assert(sums[0] + sums[1] == PACKERS * EACH * (EACH + 1) / 2);
    // How the parcels were shared out is free.
    printf("loaded: %d and %d\n", sums[0], sums[1]);
    return 0;
}
