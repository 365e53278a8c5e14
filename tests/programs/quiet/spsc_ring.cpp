// A ring for one producer and one consumer. Each side keeps a copy of the other side's index, and asks for the true one
// only if the ring seems full or empty.
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <thread>

struct Sample {
    int time;
    std::unique_ptr<int> value;
};

template <typename T, std::size_t N>
class Ring {
    std::array<T, N> places;
    alignas(64) std::atomic<std::size_t> head{0};
    std::size_t known_tail = 0; // of the consumer alone
    alignas(64) std::atomic<std::size_t> tail{0};
    std::size_t known_head = 0; // of the producer alone

  public:
    /// Leaves the value where it is if the ring is full.
    bool push(T &value) {
        std::size_t own = tail.load(std::memory_order_relaxed);
        if (own - known_head == N) {
            known_head = head.load(std::memory_order_acquire);
            if (own - known_head == N)
                return false;
        }
        places[own % N] = std::move(value);
        tail.store(own + 1, std::memory_order_release);
        return true;
    }

    bool pop(T &value) {
        std::size_t own = head.load(std::memory_order_relaxed);
        if (own == known_tail) {
            known_tail = tail.load(std::memory_order_acquire);
            if (own == known_tail)
                return false;
        }
        value = std::move(places[own % N]);
        head.store(own + 1, std::memory_order_release);
        return true;
    }
};

int main() {
    constexpr int samples = 8;
    Ring<Sample, 2> ring;
    std::atomic<bool> is_over{false};
    int overruns = 0, idle = 0, received = 0;

    std::thread sensor([&] {
        for (int time = 0; time < samples; time++) {
            Sample sample{time, std::make_unique<int>(time * 7)};
            while (!ring.push(sample)) {
                overruns++;
                std::this_thread::yield();
            }
        }
        is_over.store(true, std::memory_order_release);
    });
    std::thread recorder([&] {
        Sample sample;
        for (;;) {
            // Read before the ring: what is found empty afterwards stays empty.
            bool last_look = is_over.load(std::memory_order_acquire);
            if (ring.pop(sample)) {
                assert(sample.time == received && *sample.value == received * 7);
                received++;
            } else if (last_look) {
                break;
            } else {
                idle++;
                std::this_thread::yield();
            }
        }
    });
    sensor.join();
    recorder.join();
    assert(received == samples);
    std::printf("%d overruns, %d idle\n", overruns, idle);
}
