// exercises: std::atomic wait, notify_one, notify_all for 4-byte, 8-byte and byte-sized atomics, atomic_flag::wait, atomic_ref
#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>
#include <vector>

static std::atomic<int> turn{0};
static std::atomic<uint64_t> wide{0};
static std::atomic<bool> small{false};
static std::atomic_flag flag;
static int order[6], placed;
static int plain_counter;

static void take_turn(int me) {
    for (int round = 0; round < 2; round++) {
        int wanted = round * 3 + me;
        for (int seen = turn.load(); seen != wanted; seen = turn.load())
            turn.wait(seen);
        order[placed++] = me;
        turn.store(wanted + 1);
        turn.notify_all();
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 2; i >= 0; i--)
        threads.emplace_back(take_turn, i);
    threads.emplace_back([] {
        wide.wait(0);
        assert(wide.load() == 1ull << 40);
        small.wait(false);
        flag.wait(false);
        for (int i = 0; i < 10; i++)
            std::atomic_ref(plain_counter).fetch_add(1);
    });
    wide.store(1ull << 40);
    wide.notify_one();
    small.store(true);
    small.notify_one();
    flag.test_and_set();
    flag.notify_all();
    for (int i = 0; i < 10; i++)
        std::atomic_ref(plain_counter).fetch_add(1);
    for (auto &thread : threads)
        thread.join();
    for (int i = 0; i < 6; i++)
        assert(order[i] == i % 3);
    assert(plain_counter == 20);
}
