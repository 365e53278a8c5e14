// Limits are replaced as a whole by swapping a pointer; a request that comes before the first swap goes unlimited.
// bug: the swap is relaxed, so a request may follow the pointer to limits that it does not see yet
//@ expect: data-race
//@ also: data-race
//@ consequence: none|assertion
#include <atomic>
#include <cassert>
#include <thread>

struct Limits {
    int connections;
    int bytes;
};

static std::atomic<Limits *> limits{nullptr};

static void request() {
    Limits *mine = limits.load(std::memory_order_acquire);
    if (mine == nullptr)
        return;
    int bytes = mine->bytes; // @use
    assert(bytes == 4096);
}

static void configure() {
    auto *fresh = new Limits;
    fresh->connections = 10;
    fresh->bytes = 4096; // @set
    delete limits.exchange(fresh, std::memory_order_relaxed);
}

int main() {
    std::thread client(request);
    std::thread admin(configure);
    client.join();
    admin.join();
    delete limits.load();
}
