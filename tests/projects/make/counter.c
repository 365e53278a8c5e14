#include "counter.h"

static int counter;

int counter_add(int amount) {
    counter += amount;
    return counter;
}
