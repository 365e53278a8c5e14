// Two mirrors are asked for a file; the first answer fulfils the promise, the other one is dropped.
//@ none
#include <atomic>
#include <cassert>
#include <future>
#include <thread>

static std::promise<int> answer;
static std::atomic<bool> is_answered{false};

static void ask(int mirror) {
    if (is_answered.exchange(true))
        return;
    answer.set_value(mirror);
}

int main() {
    std::future<int> file = answer.get_future();
    std::thread first(ask, 1);
    std::thread second(ask, 2);
    first.join();
    second.join();
    int mirror = file.get();
    assert(mirror == 1 || mirror == 2);
}
