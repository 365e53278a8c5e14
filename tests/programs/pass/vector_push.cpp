// corrected: appending takes a lock
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

static std::vector<int> log_entries;
static std::mutex lock;

static void append(int from) {
    for (int i = 0; i < 3; i++) {
        std::lock_guard guard(lock);
        log_entries.push_back(from + i);
    }
}

int main() {
    log_entries.reserve(16);
    std::thread first(append, 10), second(append, 20);
    first.join();
    second.join();
    assert(log_entries.size() == 6);
}
