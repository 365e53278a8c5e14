// A registry is made by whoever needs it first, under a lock; others take the quick way past the lock: the release
// store of the pointer publishes the registry to their acquire load.
//@ none
#include <atomic>
#include <cassert>
#include <mutex>
#include <string>
#include <thread>

struct Registry {
    std::string name;
    int entries;
};

std::atomic<Registry *> registry;
static std::mutex making;
static int made;

static Registry *instance() {
    Registry *found = registry.load(std::memory_order_acquire);
    if (found == nullptr) {
        std::lock_guard guard(making);
        found = registry.load(std::memory_order_relaxed);
        if (found == nullptr) {
            found = new Registry{"plugins", 3};
            made++;
            registry.store(found, std::memory_order_release);
        }
    }
    return found;
}

int main() {
    std::thread first([] { assert(instance()->entries == 3); });
    std::thread second([] { assert(instance()->name == "plugins"); });
    first.join();
    second.join();
    assert(made == 1);
    delete instance();
}
