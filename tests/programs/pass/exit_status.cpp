// corrected: a compare-exchange loop stores the maximum
#include <atomic>
#include <thread>

static std::atomic<int> highest{0};

static void report(int value) {
    int seen = highest.load();
    while (value > seen && !highest.compare_exchange_weak(seen, value))
        ;
}

int main() {
    std::thread first(report, 5), second(report, 8);
    first.join();
    second.join();
    return highest.load() == 8 ? 0 : 3;
}
