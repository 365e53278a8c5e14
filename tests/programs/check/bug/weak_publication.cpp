//@ expect: data-race write read

// A flag that is stored relaxed publishes nothing, however it is loaded.

#include <atomic>
#include <cstdio>
#include <thread>

static int payload;
static std::atomic<bool> ready{false};

static void publish() {
    payload = 42; // @write
    ready.store(true, std::memory_order_relaxed);
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
