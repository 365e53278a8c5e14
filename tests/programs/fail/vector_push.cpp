// bug: two threads append to the same vector without a lock; one element may be lost
// expect: assertion
#include <cassert>
#include <thread>
#include <vector>

static std::vector<int> log_entries;

static void append(int from) {
    for (int i = 0; i < 3; i++)
        log_entries.push_back(from + i);
}

int main() {
    log_entries.reserve(16);
    std::thread first(append, 10), second(append, 20);
    first.join();
    second.join();
    assert(log_entries.size() == 6);
}
