#include "counter.h"

#include <stdexcept>

static void check(int value) {
    if (value < 0) {
        throw std::runtime_error("negative");
    }
}

int throws(int value) {
    try {
        check(value);
        return 0;
    } catch (const std::exception &) {
        return 1;
    }
}
