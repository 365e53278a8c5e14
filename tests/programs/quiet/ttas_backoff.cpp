// A test-and-test-and-set lock whose back-off doubles, with statistics that its waiters write while they wait. It meets
// the requirements of std::lock_guard and std::unique_lock.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class SpinLock {
    std::atomic<bool> is_held{false};
    std::atomic<unsigned long> spins{0};
    unsigned long acquisitions = 0; // under the lock itself

  public:
    void lock() {
        unsigned pause = 1;
        for (;;) {
            if (!is_held.exchange(true, std::memory_order_acquire))
                break;
            while (is_held.load(std::memory_order_relaxed)) {
                for (unsigned i = 0; i < pause; i++)
                    spins.fetch_add(1, std::memory_order_relaxed);
                if (pause < 16)
                    pause *= 2;
                else
                    std::this_thread::yield();
            }
        }
        acquisitions++;
    }

    bool try_lock() {
        bool is_own = !is_held.load(std::memory_order_relaxed) && !is_held.exchange(true, std::memory_order_acquire);
        if (is_own)
            acquisitions++;
        return is_own;
    }

    void unlock() { is_held.store(false, std::memory_order_release); }

    unsigned long times_acquired() {
        std::lock_guard held(*this);
        return acquisitions - 1;
    }
    unsigned long times_spun() const { return spins.load(std::memory_order_relaxed); }
};

int main() {
    SpinLock lock;
    std::vector<std::string> journal;
    std::atomic<int> skipped{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&, i] {
            for (int k = 0; k < 3; k++) {
                std::lock_guard held(lock);
                journal.push_back(std::to_string(i) + "." + std::to_string(k));
            }
        });
    threads.emplace_back([&] {
        for (int k = 0; k < 3; k++) {
            if (std::unique_lock held(lock, std::try_to_lock); held)
                journal.push_back("optional");
            else
                skipped++;
        }
    });
    for (auto &thread : threads)
        thread.join();
    assert(journal.size() == 9u - skipped);
    assert(lock.times_acquired() == journal.size());
    std::printf("skipped %d, spun %lu\n", skipped.load(), lock.times_spun());
}
