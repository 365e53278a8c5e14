// hostile: locks, threads and allocations in constructors before main and in destructors after it
#include <cassert>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <vector>

static pthread_mutex_t early_lock = PTHREAD_MUTEX_INITIALIZER;
static int early;

static void *early_thread(void *) {
    pthread_mutex_lock(&early_lock);
    early += 10;
    pthread_mutex_unlock(&early_lock);
    return nullptr;
}

__attribute__((constructor(101))) static void before_everything() {
    pthread_t thread;
    pthread_mutex_lock(&early_lock);
    early = 1;
    pthread_mutex_unlock(&early_lock);
    pthread_create(&thread, nullptr, early_thread, nullptr);
    pthread_join(thread, nullptr);
}

struct Registry {
    std::mutex lock;
    std::vector<int> names;
    std::thread background;
    Registry() : background([this] { add(7); }) { add(1); }
    ~Registry() {
        std::thread last([this] { add(9); });
        last.join();
        std::lock_guard guard(lock);
        if (names.size() != 5)
            _exit(8);
    }
    void add(int name) {
        std::lock_guard guard(lock);
        names.push_back(name);
    }
};

static Registry registry;

__attribute__((destructor)) static void after_everything() {
    pthread_mutex_lock(&early_lock);
    if (early != 11)
        _exit(9);
    pthread_mutex_unlock(&early_lock);
}

int main() {
    assert(early == 11);
    std::thread a([] { registry.add(2); }), b([] { registry.add(3); });
    a.join();
    b.join();
    registry.background.join();
}
