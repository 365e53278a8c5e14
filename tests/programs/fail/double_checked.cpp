// bug: double-checked initialisation publishes the object before it is filled in
// expect: assertion
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
            instance.store(new Settings);
            instance.load()->load();
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
