//@ none
//@ unconfirmed: 0

// A flag that is stored with release and loaded with acquire publishes what was written before.

#include <atomic>
#include <cstdio>
#include <thread>

static int payload;
static std::atomic<bool> ready{false};

static void publish() {
    payload = 42; // @write
    ready.store(true, std::memory_order_release);
}

static void consume() {
    if (ready.load(std::memory_order_acquire)) {
        std::printf("%d\n", payload); // @read
    }
}

int main() {
    std::thread writer(publish);
    std::thread reader(consume);
    writer.join();
    reader.join();
}
