// exercises: std::call_once, raced; an exception leaves the flag unset and the next caller tries again
#include <atomic>
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static std::once_flag plain, throwing;
static int initialised, attempts;
static std::atomic<int> caught{0};

static void fails_twice() {
    if (++attempts <= 2)
        throw std::runtime_error("not yet");
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([] {
            std::call_once(plain, [](int amount) { initialised += amount; }, 5);
            assert(initialised == 5);
            for (bool done = false; !done;) {
                try {
                    std::call_once(throwing, fails_twice);
                    done = true;
                } catch (const std::runtime_error &) {
                    caught++;
                }
            }
            assert(attempts == 3);
        });
    for (auto &thread : threads)
        thread.join();
    assert(caught == 2);
}
