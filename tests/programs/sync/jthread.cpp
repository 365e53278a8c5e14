// exercises: std::jthread with stop_token, stop_callback, and condition_variable_any waits that a stop request ends
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex lock;
static std::condition_variable_any changed;
static int stopped, callbacks, polled;

int main() {
    {
        std::jthread waits([](std::stop_token stop) {
            std::unique_lock guard(lock);
            bool satisfied = changed.wait(guard, stop, [] { return false; });
            assert(!satisfied && stop.stop_requested());
            stopped++;
        });
        std::jthread polls([](std::stop_token stop) {
            while (!stop.stop_requested())
                std::this_thread::yield();
            polled = 1;
        });
        std::jthread other([](std::stop_token stop) {
            std::stop_callback on_stop(stop, [] {
                std::lock_guard guard(lock);
                callbacks++;
            });
            while (!stop.stop_requested())
                std::this_thread::yield();
        });
        assert(other.request_stop());
        assert(!other.request_stop());
    }
    assert(stopped == 1 && polled == 1 && callbacks == 1);
}
