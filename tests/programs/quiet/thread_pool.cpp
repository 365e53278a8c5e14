// A pool of workers that gives out futures. Its destructor lets the workers finish what is queued, and what they queue
// themselves, before it joins them; a task that throws hands the exception to the future.
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

class Pool {
    std::mutex lock;
    std::condition_variable wake;
    std::deque<std::function<void()>> queue;
    bool is_stopping = false;
    std::vector<std::thread> workers;

    void work() {
        for (;;) {
            std::function<void()> task;
            {
                std::unique_lock held(lock);
                wake.wait(held, [this] { return is_stopping || !queue.empty(); });
                if (queue.empty())
                    return;
                task = std::move(queue.front());
                queue.pop_front();
            }
            task();
        }
    }

  public:
    explicit Pool(int size) {
        for (int i = 0; i < size; i++)
            workers.emplace_back([this] { work(); });
    }

    ~Pool() {
        {
            std::lock_guard held(lock);
            is_stopping = true;
        }
        wake.notify_all();
        for (auto &worker : workers)
            worker.join();
    }

    template <typename F>
    auto submit(F function) -> std::future<decltype(function())> {
        // Shared, because a std::function has to be copyable.
        auto task = std::make_shared<std::packaged_task<decltype(function())()>>(std::move(function));
        auto future = task->get_future();
        {
            std::lock_guard held(lock);
            queue.emplace_back([task] { (*task)(); });
        }
        wake.notify_one();
        return future;
    }
};

int main() {
    int late = 0;
    {
        std::vector<std::future<int>> results;
        Pool pool(2);
        for (int i = 0; i < 4; i++)
            results.push_back(pool.submit([i] { return i * i; }));
        auto failing = pool.submit([]() -> int { throw std::runtime_error("no paper"); });
        auto nested = pool.submit([&pool, &late] { pool.submit([&late] { late = 1; }); });
        int sum = 0;
        for (auto &result : results)
            sum += result.get();
        assert(sum == 14);
        bool has_failed = false;
        try {
            failing.get();
        } catch (const std::runtime_error &) {
            has_failed = true;
        }
        assert(has_failed);
        nested.get();
    }
    // The destructor has joined all workers.
    assert(late == 1);
    std::puts("done");
}
