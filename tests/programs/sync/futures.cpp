// exercises: std::promise, future, shared_future, async (both policies), packaged_task, exceptions and wait_for through them
#include <cassert>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static int fibonacci(int n) {
    if (n < 2)
        return n;
    if (n < 5)
        return fibonacci(n - 1) + fibonacci(n - 2);
    auto left = std::async(std::launch::async, fibonacci, n - 1);
    return fibonacci(n - 2) + left.get();
}

int main() {
    std::promise<int> promise;
    std::shared_future<int> shared = promise.get_future().share();
    std::vector<std::future<int>> readers;
    for (int i = 0; i < 2; i++)
        readers.push_back(std::async(std::launch::async, [shared, i] { return shared.get() + i; }));
    assert(shared.wait_for(0s) == std::future_status::timeout);
    assert(shared.wait_for(2ms) == std::future_status::timeout);
    promise.set_value(40);
    assert(readers[0].get() == 40 && readers[1].get() == 41);

    std::packaged_task<int(int)> task([](int x) -> int {
        if (x < 0)
            throw std::domain_error("negative");
        return x * 2;
    });
    auto result = task.get_future();
    std::thread runner(std::move(task), -1);
    bool threw = false;
    try {
        result.get();
    } catch (const std::domain_error &) {
        threw = true;
    }
    runner.join();
    assert(threw);

    auto lazy = std::async(std::launch::deferred, [] { return 7; });
    assert(lazy.wait_for(0s) == std::future_status::deferred && lazy.get() == 7);
    assert(fibonacci(7) == 13);

    std::future<int> broken;
    {
        std::promise<int> abandoned;
        broken = abandoned.get_future();
    }
    try {
        broken.get();
        assert(false);
    } catch (const std::future_error &error) {
        assert(error.code() == std::future_errc::broken_promise);
    }
}
