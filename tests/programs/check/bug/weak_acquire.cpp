//@ expect: data-race write read

// A flag that is loaded relaxed makes nothing known of what was released.

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
    if (ready.load(std::memory_order_relaxed)) {
        std::printf("%d\n", payload); // @read
    }
}

int main() {
    std::thread writer(publish);
    std::thread reader(consume);
    writer.join();
    reader.join();
}
