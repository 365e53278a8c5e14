// Forty threads open a handle each: a handle's number is the number of handles that are open.
// bug: the number is read and raised in two steps, so two threads may get the same handle
//@ expect: atomicity-violation|assertion
//@ also: atomicity-violation
//@ consequence: assertion
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

enum { THREADS = 40 };

static std::atomic<int> open_handles{0};
static std::atomic<int> users[THREADS];

static void open_handle() {
    int handle = open_handles.load();
    open_handles.store(handle + 1);
    users[handle].fetch_add(1);
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(open_handle);
    for (std::thread &thread : threads)
        thread.join();
    for (std::atomic<int> &count : users)
        assert(count.load() == 1);
}
