// exercises: std::thread: arguments, move, join, detach, hardware_concurrency, get_id, this_thread::yield and sleep_for
#include <atomic>
#include <cassert>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

static std::atomic<int> detached_done{0};

static void sum_range(const std::vector<int> &values, size_t from, size_t to, long &result) {
    result = std::accumulate(values.begin() + from, values.begin() + to, 0L);
}

int main() {
    std::vector<int> values(40);
    std::iota(values.begin(), values.end(), 1);
    long parts[4] = {};
    std::vector<std::thread> threads;
    for (size_t i = 0; i < 4; i++)
        threads.emplace_back(sum_range, std::cref(values), i * 10, i * 10 + 10, std::ref(parts[i]));
    std::thread moved = std::move(threads.back());
    threads.pop_back();
    assert(moved.joinable() && moved.get_id() != std::this_thread::get_id());
    for (auto &thread : threads)
        thread.join();
    moved.join();
    assert(!moved.joinable());
    assert(parts[0] + parts[1] + parts[2] + parts[3] == 40 * 41 / 2);

    std::thread([] { detached_done.store(1, std::memory_order_release); }).detach();
    while (detached_done.load(std::memory_order_acquire) == 0)
        std::this_thread::yield();

    auto before = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    assert(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds(3));
    assert(std::thread::hardware_concurrency() >= 1);
}
