// A pool's worker sleeps until there is a task or the pool is stopped.
//@ none
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

class Pool {
public:
    void work() {
        std::unique_lock<std::mutex> guard(lock_);
        while (!is_stopped_.load() && tasks_ == 0) {
            changed_.wait(guard);
        }
        if (tasks_ > 0) {
            tasks_--;
            done_++;
        }
    }

    void stop() {
        std::lock_guard<std::mutex> guard(lock_);
        is_stopped_.store(true);
        changed_.notify_all();
    }

    int done() const { return done_; }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    std::atomic<bool> is_stopped_{false};
    int tasks_ = 0;
    int done_ = 0;
};

int main() {
    Pool pool;
    std::thread worker([&] { pool.work(); });
    std::thread owner([&] { pool.stop(); });
    worker.join();
    owner.join();
    assert(pool.done() == 0);
}
