// corrected: the object is filled in before it is published
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Settings {
    int workers = 0;
    void load() { workers = 4; }
};

static std::atomic<Settings *> instance{nullptr};
static std::mutex lock;

static Settings &settings() {
    if (!instance.load()) {
        std::lock_guard guard(lock);
        if (!instance.load()) {
            auto *fresh = new Settings;
            fresh->load();
            instance.store(fresh);
        }
    }
    return *instance.load();
}

int main() {
    std::thread other([] { assert(settings().workers == 4); });
    assert(settings().workers == 4);
    other.join();
    delete instance.load();
}
