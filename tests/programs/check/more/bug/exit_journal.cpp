// A journal is a global object; a flusher thread writes lines to it in the background.
// bug: main returns while the flusher is running, and the journal's destructor frees the lines that it adds to
//@ expect: use-after-free
//@ also: data-race
//@ also: double-free
//@ consequence: crash|none
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

class Journal {
public:
    Journal() : lines_(4) {}
    void write(int at, int line) {
        std::lock_guard<std::mutex> guard(lock_);
        lines_[at] = line;
    }

private:
    std::mutex lock_;
    std::vector<int> lines_;
};

static Journal journal;
static std::mutex lock;
static std::condition_variable changed;
static bool is_up;

static void flush() {
    {
        std::lock_guard<std::mutex> guard(lock);
        is_up = true;
        changed.notify_one();
    }
    for (int i = 0; i < 4; i++)
        journal.write(i, i * i);
}

int main() {
    std::thread flusher(flush);
    {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [] { return is_up; });
    }
    flusher.detach();
}
