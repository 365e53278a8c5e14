// Five philosophers, five forks: each takes both, in whatever order std::scoped_lock likes: it gives back what it
// has rather than wait for the other.
//@ none
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
    std::scoped_lock both(left.lock, right.lock);
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
