// Cancellation by stop tokens: a loop that asks, a wait that is interrupted, and a callback that runs in whichever
// thread asks to stop, or at once if that has already happened.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

class Inbox {
    std::mutex lock;
    std::condition_variable_any arrived;
    std::vector<int> letters;

  public:
    void put(int letter) {
        {
            std::lock_guard held(lock);
            letters.push_back(letter);
        }
        arrived.notify_one();
    }
    /// False if it was asked to stop and nothing is left.
    bool take(std::stop_token token, int &letter) {
        std::unique_lock held(lock);
        if (!arrived.wait(held, token, [this] { return !letters.empty(); }))
            return false;
        letter = letters.back();
        letters.pop_back();
        return true;
    }
};

int main() {
    std::atomic<unsigned long> steps{0};
    std::atomic<int> callbacks{0};
    Inbox inbox;
    int sum = 0;
    {
        std::jthread walker([&steps](std::stop_token token) {
            while (!token.stop_requested()) {
                steps.fetch_add(1, std::memory_order_relaxed);
                std::this_thread::yield();
            }
        });
        std::jthread reader([&inbox, &sum](std::stop_token token) {
            int letter;
            while (inbox.take(token, letter))
                sum += letter;
        });
        std::jthread guest([&callbacks, token = walker.get_stop_token()] {
            std::stop_callback on_stop(token, [&callbacks] { callbacks++; });
            while (callbacks == 0)
                std::this_thread::yield();
        });
        for (int i = 1; i <= 4; i++)
            inbox.put(i);
        bool is_first = walker.request_stop();
        assert(is_first);
        assert(!walker.request_stop());
        guest.join();
        assert(callbacks == 1);
        // The destructors of reader and walker ask to stop and join.
    }
    assert(sum == 10);
    std::printf("%lu steps\n", steps.load());
}
