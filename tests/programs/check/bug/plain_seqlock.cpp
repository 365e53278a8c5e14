//@ expect: data-race write read
//@ expect: data-race write2 read2

// A sequence lock over plain data: the reader discards what it read while the writer wrote, but it has read it.

#include <atomic>
#include <cstdio>
#include <thread>

static std::atomic<unsigned> sequence{0};
static int first;
static int second;

static void write_pair(int value) {
    unsigned before = sequence.load(std::memory_order_relaxed);
    sequence.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    first = (value); // @write
    second = (value); // @write2
    sequence.store(before + 2, std::memory_order_release);
}

static void read_pair() {
    unsigned before = sequence.load(std::memory_order_acquire);
    int one = first; // @read
    int two = second; // @read2
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
