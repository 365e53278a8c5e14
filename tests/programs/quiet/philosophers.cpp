// Dining philosophers three times: with forks in the order of their numbers, with std::scoped_lock, which backs off,
// and with a door that lets in one philosopher less than there are forks.
#include <array>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

constexpr int seats = 3, meals = 2;

struct Fork {
    std::mutex lock;
    int uses = 0; // under the lock
};

struct Table {
    std::array<Fork, seats> forks;
    std::array<int, seats> eaten{}; // each of its philosopher's own

    Fork &left(int seat) { return forks[seat]; }
    Fork &right(int seat) { return forks[(seat + 1) % seats]; }

    void eat(int seat) {
        left(seat).uses++;
        right(seat).uses++;
        eaten[seat]++;
    }

    void check() const {
        for (const auto &fork : forks)
            assert(fork.uses == 2 * meals);
        for (int count : eaten)
            assert(count == meals);
    }
};

class Door {
    std::mutex lock;
    std::condition_variable left;
    int free = seats - 1;

  public:
    void enter() {
        std::unique_lock held(lock);
        left.wait(held, [this] { return free > 0; });
        free--;
    }
    void leave() {
        std::lock_guard held(lock);
        free++;
        left.notify_one();
    }
};

template <typename F>
static void dine(F meal) {
    Table table;
    std::vector<std::thread> philosophers;
    for (int seat = 0; seat < seats; seat++)
        philosophers.emplace_back([&table, meal, seat] {
            for (int i = 0; i < meals; i++)
                meal(table, seat);
        });
    for (auto &philosopher : philosophers)
        philosopher.join();
    table.check();
}

int main() {
    dine([](Table &table, int seat) {
        Fork *first = &table.left(seat), *second = &table.right(seat);
        if (second < first)
            std::swap(first, second);
        std::lock_guard one(first->lock);
        std::lock_guard two(second->lock);
        table.eat(seat);
    });
    dine([](Table &table, int seat) {
        std::scoped_lock both(table.left(seat).lock, table.right(seat).lock);
        table.eat(seat);
    });
    Door door;
    dine([&door](Table &table, int seat) {
        door.enter();
        {
            // A cycle of forks needs all philosophers at the table.
            std::lock_guard one(table.left(seat).lock);
            std::lock_guard two(table.right(seat).lock);
            table.eat(seat);
        }
        door.leave();
    });
    std::puts("all have eaten");
}
