// A start latch, rounds with a barrier whose completion step swaps the buffers, a room that at
// most two threads enter by an atomic count, and waiting on an atomic for the result.
#include <array>
#include <atomic>
#include <barrier>
#include <cassert>
#include <cstdio>
#include <latch>
#include <thread>
#include <vector>

constexpr int cells = 3, rounds = 3;

struct World {
    std::array<int, cells> now{1, 2, 3}, next{};
    int generation = 0;

    void step(int cell) { next[cell] = now[cell] + now[(cell + 1) % cells]; }
    void turn() noexcept {
        now = next;
        generation++;
    }
};

static World alone() {
    World world;
    for (int round = 0; round < rounds; round++) {
        for (int cell = 0; cell < cells; cell++)
            world.step(cell);
        world.turn();
    }
    return world;
}

int main() {
    World world;
    std::latch start{cells};
    auto turn = [&world]() noexcept { world.turn(); };
    std::barrier end_of_round{cells, turn};
    std::atomic<int> room{2}, inside{0}, most{0}, done{0};

    std::vector<std::jthread> threads;
    for (int cell = 0; cell < cells; cell++)
        threads.emplace_back([&, cell] {
            start.arrive_and_wait();
            for (int round = 0; round < rounds; round++) {
                world.step(cell);
                end_of_round.arrive_and_wait();
            }
            for (int free = room.load();;) {
                if (free == 0) {
                    room.wait(0);
                    free = room.load();
                } else if (room.compare_exchange_weak(free, free - 1)) {
                    break;
                }
            }
            int count = ++inside;
            assert(count <= 2);
            int known = most.load();
            while (known < count && !most.compare_exchange_weak(known, count)) {
            }
            --inside;
            room.fetch_add(1);
            room.notify_one();
            done.fetch_add(1);
            done.notify_all();
        });
    for (int seen = done.load(); seen < cells; seen = done.load())
        done.wait(seen);
    threads.clear();

    World expected = alone();
    assert(world.now == expected.now && world.generation == rounds);
    std::printf("%d at most in the room\n", most.load());
}
