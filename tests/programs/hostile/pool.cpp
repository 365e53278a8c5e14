// hostile: a global pool that is never stopped, jthreads that stop late, statics that are destroyed while threads wait
#include <cassert>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
  public:
    explicit Pool(int threads) {
        for (int i = 0; i < threads; i++)
            std::thread([this] { work(); }).detach();
    }
    std::future<int> submit(std::function<int()> task) {
        std::packaged_task<int()> packaged(std::move(task));
        auto result = packaged.get_future();
        std::lock_guard guard(lock);
        tasks.push_back(std::move(packaged));
        changed.notify_one();
        return result;
    }

  private:
    void work() {
        for (;;) {
            std::unique_lock guard(lock);
            changed.wait(guard, [this] { return !tasks.empty(); });
            auto task = std::move(tasks.front());
            tasks.pop_front();
            guard.unlock();
            task();
        }
    }
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::packaged_task<int()>> tasks;
};

/// Never destroyed: its threads use it until the process is gone.
static Pool &pool() {
    static auto *instance = new Pool(3);
    return *instance;
}

struct AtExit {
    ~AtExit() {
        if (pool().submit([] { return 4; }).get() != 4)
            std::quick_exit(9);
    }
};
static AtExit at_exit;

int main() {
    std::vector<std::future<int>> results;
    for (int i = 0; i < 8; i++)
        results.push_back(pool().submit([i] { return i * i; }));
    int sum = 0;
    for (auto &result : results)
        sum += result.get();
    assert(sum == 140);
    std::jthread patient([](std::stop_token stop) {
        while (!stop.stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
}
