// exercises: thread_local objects with constructors and destructors, first used late, destroyed at thread exit, under a lock
#include <cassert>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static int constructed, destroyed, flushed;

struct Buffer {
    std::string text;
    Buffer() {
        std::lock_guard guard(lock);
        constructed++;
    }
    ~Buffer() {
        std::lock_guard guard(lock);
        destroyed++;
        flushed += static_cast<int>(text.size());
    }
};

static thread_local Buffer buffer;
static thread_local int depth = 1;

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([i] {
            depth += i;
            if (i != 3)
                for (int k = 0; k < depth; k++)
                    buffer.text += "ab";
            assert(depth == 1 + i);
        });
    for (auto &thread : threads)
        thread.join();
    std::lock_guard guard(lock);
    assert(constructed == 3 && destroyed == 3 && flushed == 2 * (1 + 2 + 3) && depth == 1);
}
