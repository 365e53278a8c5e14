// exercises: std::condition_variable and condition_variable_any: wait with predicate, wait_for, wait_until, notify_one, notify_all, notify_all_at_thread_exit
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static std::mutex lock;
static std::condition_variable changed;
static std::deque<int> items;
static bool closed, last_words;

static std::shared_mutex shared;
static std::condition_variable_any any_changed;
static int level;

static int drain() {
    int sum = 0;
    std::unique_lock guard(lock);
    for (;;) {
        changed.wait(guard, [] { return !items.empty() || closed; });
        if (items.empty())
            return sum;
        sum += items.front();
        items.pop_front();
    }
}

int main() {
    int sums[2] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&sums, i] { sums[i] = drain(); });
    threads.emplace_back([] {
        std::shared_lock reading(shared);
        any_changed.wait(reading, [] { return level == 2; });
    });
    for (int i = 1; i <= 10; i++) {
        std::lock_guard guard(lock);
        items.push_back(i);
        changed.notify_one();
    }
    {
        std::lock_guard guard(lock);
        closed = true;
    }
    changed.notify_all();
    for (int i = 1; i <= 2; i++) {
        std::unique_lock writing(shared);
        level = i;
        any_changed.notify_all();
    }
    for (auto &thread : threads)
        thread.join();
    assert(sums[0] + sums[1] == 55);

    std::unique_lock guard(lock);
    auto start = std::chrono::steady_clock::now();
    assert(!changed.wait_for(guard, 5ms, [] { return false; }));
    assert(std::chrono::steady_clock::now() - start >= 5ms);
    auto deadline = std::chrono::system_clock::now() + 5ms;
    while (changed.wait_until(guard, deadline) == std::cv_status::no_timeout)
        ;
    assert(std::chrono::system_clock::now() >= deadline);

    std::thread([] {
        std::unique_lock mine(lock);
        last_words = true;
        std::notify_all_at_thread_exit(changed, std::move(mine));
    }).detach();
    changed.wait(guard, [] { return last_words; });
}
