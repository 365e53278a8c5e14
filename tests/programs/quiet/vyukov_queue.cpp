// Vyukov's bounded queue for many producers and consumers: a sequence number in each cell says whose turn the cell is.
// Pushes into a full queue fail and are counted.
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

template <typename T, std::size_t N>
class BoundedQueue {
    static_assert((N & (N - 1)) == 0);

    struct Cell {
        std::atomic<std::size_t> sequence;
        T value;
    };

    std::array<Cell, N> cells;
    alignas(64) std::atomic<std::size_t> pushed{0};
    alignas(64) std::atomic<std::size_t> popped{0};

  public:
    BoundedQueue() {
        for (std::size_t i = 0; i < N; i++)
            cells[i].sequence.store(i, std::memory_order_relaxed);
    }

    bool try_push(T value) {
        std::size_t position = pushed.load(std::memory_order_relaxed);
        for (;;) {
            Cell &cell = cells[position % N];
            std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
            auto lead = static_cast<std::intptr_t>(sequence - position);
            if (lead < 0)
                return false;
            if (lead > 0) {
                position = pushed.load(std::memory_order_relaxed);
            } else if (pushed.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
                cell.value = std::move(value);
                cell.sequence.store(position + 1, std::memory_order_release);
                return true;
            }
        }
    }

    bool try_pop(T &value) {
        std::size_t position = popped.load(std::memory_order_relaxed);
        for (;;) {
            Cell &cell = cells[position % N];
            std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
            auto lead = static_cast<std::intptr_t>(sequence - (position + 1));
            if (lead < 0)
                return false;
            if (lead > 0) {
                position = popped.load(std::memory_order_relaxed);
            } else if (popped.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
                value = std::move(cell.value);
                cell.sequence.store(position + N, std::memory_order_release);
                return true;
            }
        }
    }
};

int main() {
    constexpr int producers = 2, consumers = 2, each = 4;
    BoundedQueue<std::string, 2> queue;
    std::atomic<int> failed_pushes{0}, failed_pops{0}, received{0};
    std::array<std::vector<std::string>, consumers> got;
    std::vector<std::thread> threads;
    for (int i = 0; i < producers; i++)
        threads.emplace_back([&, i] {
            for (int k = 0; k < each; k++)
                while (!queue.try_push("message " + std::to_string(i * each + k))) {
                    failed_pushes++;
                    std::this_thread::yield();
                }
        });
    for (int i = 0; i < consumers; i++)
        threads.emplace_back([&, i] {
            std::string message;
            while (received.load() < producers * each) {
                if (queue.try_pop(message)) {
                    received++;
                    got[i].push_back(std::move(message));
                } else {
                    failed_pops++;
                    std::this_thread::yield();
                }
            }
        });
    for (auto &thread : threads)
        thread.join();
    std::size_t all = 0;
    for (const auto &messages : got)
        for (const auto &message : messages) {
            assert(message.starts_with("message "));
            all++;
        }
    assert(all == producers * each);
    std::printf("failed: %d pushes, %d pops\n", failed_pushes.load(), failed_pops.load());
}
