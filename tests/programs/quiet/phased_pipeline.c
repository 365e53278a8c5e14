// A pipeline of three stages. Each stage hands a frame on through a slot of its own, under a lock that is held only for
// the hand-over; what lies in the frame belongs to the stage that has it.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 5 };

struct frame {
    int number;
    int decoded, scaled;
};

struct slot {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct frame *frame;
    int is_closed;
};

static struct slot decoded = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};
static struct slot scaled = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};

static void hand_over(struct slot *slot, struct frame *frame) {
    pthread_mutex_lock(&slot->lock);
    while (slot->frame != NULL)
        pthread_cond_wait(&slot->changed, &slot->lock);
    slot->frame = frame;
    pthread_cond_broadcast(&slot->changed);
    pthread_mutex_unlock(&slot->lock);
}

static void close_slot(struct slot *slot) {
    pthread_mutex_lock(&slot->lock);
    slot->is_closed = 1;
    pthread_cond_broadcast(&slot->changed);
    pthread_mutex_unlock(&slot->lock);
}

static struct frame *receive(struct slot *slot) {
    pthread_mutex_lock(&slot->lock);
    while (slot->frame == NULL && !slot->is_closed)
        pthread_cond_wait(&slot->changed, &slot->lock);
    struct frame *frame = slot->frame;
    slot->frame = NULL;
    pthread_cond_broadcast(&slot->changed);
    pthread_mutex_unlock(&slot->lock);
    return frame;
}

static void *decode(void *arg) {
    for (int i = 0; i < FRAMES; i++) {
        struct frame *frame = malloc(sizeof *frame);
        frame->number = i;
        frame->decoded = i * i;
        hand_over(&decoded, frame);
    }
    close_slot(&decoded);
    return arg;
}

static void *scale(void *arg) {
    struct frame *frame;
    while ((frame = receive(&decoded)) != NULL) {
        frame->scaled = frame->decoded * 2;
        printf("scaled %d\n", frame->number);
        hand_over(&scaled, frame);
    }
    close_slot(&scaled);
    return arg;
}

static void *show(void *arg) {
    struct frame *frame;
    int expected = 0;
    while ((frame = receive(&scaled)) != NULL) {
        assert(frame->number == expected++);
        assert(frame->scaled == 2 * frame->number * frame->number);
        // Comes before or after what the stage before says of the next frame.
        printf("shown %d\n", frame->number);
        free(frame);
    }
    assert(expected == FRAMES);
    return arg;
}

int main(void) {
    pthread_t stages[3];
    pthread_create(&stages[0], NULL, decode, NULL);
    pthread_create(&stages[1], NULL, scale, NULL);
    pthread_create(&stages[2], NULL, show, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(stages[i], NULL);
    return 0;
}
