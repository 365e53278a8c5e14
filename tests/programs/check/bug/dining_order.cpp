// Five philosophers, five forks: each takes the fork at its left and then the one at its right.
// bug: the forks are a circle, and so are the locks
//@ expect: deadlock
//@ consequence: deadlock
#include <array>
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

constexpr int seats = 5;

struct Fork {
    std::mutex lock;
    int uses = 0;
};

static std::array<Fork, seats> forks;

static void dine(int seat) {
    Fork &left = forks[seat];
    Fork &right = forks[(seat + 1) % seats];
    std::lock_guard first(left.lock);
    std::lock_guard second(right.lock);
    left.uses++;
    right.uses++;
}

int main() {
    std::vector<std::thread> philosophers;
    for (int seat = 0; seat < seats; seat++)
        philosophers.emplace_back(dine, seat);
    for (auto &philosopher : philosophers)
        philosopher.join();
    for (auto &fork : forks)
        assert(fork.uses == 2);
}
