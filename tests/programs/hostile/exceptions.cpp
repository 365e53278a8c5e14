// hostile: exceptions thrown in one thread and caught in another, through locks, destructors, cancellation and noise
#include <cassert>
#include <condition_variable>
#include <exception>
#include <future>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static std::mutex lock;
static int unwound, cancelled;

struct Counts {
    int &count;
    ~Counts() {
        std::lock_guard guard(lock);
        count++;
    }
};

static int deep(int depth) {
    Counts counts{unwound};
    if (depth == 0)
        throw std::runtime_error("deep " + std::to_string(depth));
    return deep(depth - 1) + 1;
}

static void catches_nested() {
    for (int i = 0; i < 3; i++) {
        try {
            try {
                deep(3);
            } catch (...) {
                std::throw_with_nested(std::logic_error("outer"));
            }
        } catch (const std::logic_error &outer) {
            try {
                std::rethrow_if_nested(outer);
                assert(false);
            } catch (const std::runtime_error &inner) {
                assert(std::string(inner.what()) == "deep 0");
            }
        }
    }
}

/// Cancellation unwinds like an exception that has to be thrown on.
static void *waits_for_ever(void *) {
    Counts counts{cancelled};
    try {
        for (;;)
            pause();
    } catch (...) {
        std::lock_guard guard(lock);
        cancelled += 10;
        throw;
    }
}

int main() {
    pthread_t waiting;
    pthread_create(&waiting, nullptr, waits_for_ever, nullptr);
    auto failing = std::async(std::launch::async, deep, 5);
    std::exception_ptr carried;
    std::thread carrier([&] {
        try {
            deep(2);
        } catch (...) {
            carried = std::current_exception();
        }
    });
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(catches_nested);
    try {
        failing.get();
        assert(false);
    } catch (const std::runtime_error &) {
    }
    carrier.join();
    try {
        std::rethrow_exception(carried);
    } catch (const std::exception &error) {
        assert(std::string(error.what()) == "deep 0");
    }
    for (auto &thread : threads)
        thread.join();
    pthread_cancel(waiting);
    pthread_join(waiting, nullptr);
    assert(unwound == 6 + 3 + 3 * 3 * 4);
    // Before its first line there is nothing to unwind.
    assert(cancelled == 11 || cancelled == 0 || cancelled == 1);
}
