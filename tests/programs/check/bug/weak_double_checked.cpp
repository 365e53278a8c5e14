//@ expect: data-race write read

// Double-checked locking with a relaxed pointer: the first check sees the pointer, and not what it points to.

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

struct Settings {
    int limit;
};

static Settings storage;
static std::atomic<Settings *> settings{nullptr};
static std::mutex making;

static Settings *get() {
    Settings *made = settings.load(std::memory_order_relaxed);
    if (made == nullptr) {
        std::lock_guard<std::mutex> guard(making);
        made = settings.load(std::memory_order_relaxed);
        if (made == nullptr) {
            made = &storage;
            made->limit = 10; // @write
            settings.store(made, std::memory_order_relaxed);
        }
    }
    return made;
}

static void use() {
    Settings *mine = get();
    if (mine->limit != 10) { // @read
        std::puts("not yet made");
    }
}

int main() {
    std::thread one(use);
    std::thread other(use);
    one.join();
    other.join();
}
