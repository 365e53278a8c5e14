// A hand-made read/write lock whose readers may become the writer: the last reader left goes on. Whoever finds
// another already waiting to write gives way and begins again.
//@ none
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

class UpgradeLock {
public:
    void begin_read() {
        std::unique_lock guard(lock_);
        changed_.wait(guard, [this] { return !writing_ && !upgrading_; });
        readers_++;
    }

    bool upgrade() {
        std::unique_lock guard(lock_);
        if (upgrading_)
            return false;
        upgrading_ = true;
        changed_.wait(guard, [this] { return readers_ == 1; });
        upgrading_ = false;
        writing_ = true;
        return true;
    }

    void end() {
        std::lock_guard guard(lock_);
        readers_--;
        writing_ = false;
        changed_.notify_all();
    }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    int readers_ = 0;
    bool writing_ = false;
    bool upgrading_ = false;
};

static UpgradeLock upgrade_lock;
static int cached;

static void refresh() {
    for (bool done = false; !done;) {
        upgrade_lock.begin_read();
        if (upgrade_lock.upgrade()) {
            cached++;
            done = true;
        }
        upgrade_lock.end();
    }
}

int main() {
    std::thread other(refresh);
    refresh();
    other.join();
    assert(cached == 2);
}
