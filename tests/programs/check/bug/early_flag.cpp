//@ expect: data-race write read

// The flag is set before the data is there: release covers only what comes before it.

#include <atomic>
#include <cstdio>
#include <thread>

static int payload;
static std::atomic<bool> ready{false};

static void publish() {
    ready.store(true, std::memory_order_release);
    payload = 42; // @write
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
