// Several threads write to standard output: whole lines under a lock, single stdio calls without one, and lines that
// are made beforehand. The order of lines is free; their number and form are not.
#include <array>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

class Log {
    std::mutex lock;
    std::FILE *file;
    int lines = 0;

  public:
    explicit Log(std::FILE *file) : file(file) {}

    void line(const std::string &text) {
        std::lock_guard held(lock);
        // Two calls that the lock keeps together.
        std::fprintf(file, "%2d ", ++lines);
        std::fprintf(file, "%s\n", text.c_str());
    }

    int count() {
        std::lock_guard held(lock);
        return lines;
    }
};

/// Collects what it is given and writes it as one line when it is dropped.
class Entry {
    Log &log;
    std::ostringstream text;

  public:
    explicit Entry(Log &log) : log(log) {}
    ~Entry() { log.line(text.str()); }
    template <typename T>
    Entry &operator<<(const T &value) {
        text << value;
        return *this;
    }
};

int main() {
    constexpr int workers = 3, steps = 2;
    Log log(stdout);
    std::array<int, workers> seen{};
    std::vector<std::thread> threads;
    for (int worker = 0; worker < workers; worker++)
        threads.emplace_back([&, worker] {
            for (int step = 0; step < steps; step++) {
                Entry(log) << "worker " << worker << " is at step " << step;
                int now = log.count();
                assert(now > seen[worker]);
                seen[worker] = now;
            }
            // One call is one line: stdio locks its stream.
            std::printf("worker %d has seen %d lines\n", worker, seen[worker]);
        });
    threads.emplace_back([] {
        flockfile(stdout);
        std::fputs("these two words ", stdout);
        std::fputs("stay together\n", stdout);
        funlockfile(stdout);
    });
    for (auto &thread : threads)
        thread.join();
    assert(log.count() == workers * steps);
}
