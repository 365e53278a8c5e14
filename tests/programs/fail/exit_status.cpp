// bug: the maximum is compared and stored in two steps, so a smaller value may overwrite it; the program ends with status 3
// expect: exit
#include <atomic>
#include <thread>

static std::atomic<int> highest{0};

static void report(int value) {
    if (value > highest.load())
        highest.store(value);
}

int main() {
    std::thread first(report, 5), second(report, 8);
    first.join();
    second.join();
    return highest.load() == 8 ? 0 : 3;
}
