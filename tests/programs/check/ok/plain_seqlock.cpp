//@ none
//@ unconfirmed: 0

// A sequence lock whose data is atomic: what is read meanwhile is discarded, and may be read.

#include <atomic>
#include <cstdio>
#include <thread>

static std::atomic<unsigned> sequence{0};
static std::atomic<int> first;
static std::atomic<int> second;

static void write_pair(int value) {
    unsigned before = sequence.load(std::memory_order_relaxed);
    sequence.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    first.store(value, std::memory_order_relaxed); // @write
    second.store(value, std::memory_order_relaxed); // @write2
    sequence.store(before + 2, std::memory_order_release);
}

static void read_pair() {
    unsigned before = sequence.load(std::memory_order_acquire);
    int one = first.load(std::memory_order_relaxed); // @read
    int two = second.load(std::memory_order_relaxed); // @read2
    std::atomic_thread_fence(std::memory_order_acquire);
    unsigned after = sequence.load(std::memory_order_relaxed);
    if (before == after && before % 2 == 0 && one != two) {
        std::puts("torn");
    }
}

int main() {
    std::thread reader(read_pair);
    std::thread writer(write_pair, 7);
    reader.join();
    writer.join();
}
