// Two workers tell their progress in lines of their own, in whatever order, and raise a counter twice under a lock;
// the display looks at the counter, which is atomic, without the lock, and may well see the half-way mark.
//@ none
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex printing;
static std::mutex working;
static std::atomic<int> progress;
static std::atomic<int> peak;

static void say(const char *what, int worker) {
    std::lock_guard guard(printing);
    std::printf("worker %d: %s\n", worker, what);
}

static void note_peak() {
    int now = progress.load();
    int highest = peak.load();
    while (highest < now && !peak.compare_exchange_weak(highest, now)) {
    }
}

static void work(int worker) {
    say("begins", worker);
    {
        std::lock_guard guard(working);
        progress.fetch_add(1);
        progress.fetch_add(1);
    }
    note_peak();
    say("ends", worker);
}

int main() {
    std::thread first(work, 1);
    std::thread second(work, 2);
    int seen = progress.load();
    first.join();
    second.join();
    return seen <= progress.load() && progress.load() == 4 ? 0 : 1;
}
