// A copy goes on block by block; if it finds that it was cancelled, it takes back the last block.
// bug: it does not ask whether there is a block to take back
//@ expect: assertion
//@ also: atomicity-violation
//@ consequence: assertion
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

class Copy {
public:
    void run() {
        for (int block = 0; block < 3; block++) {
            if (is_cancelled_.load()) {
                take_back();
                return;
            }
            blocks_.push_back(block);
        }
    }

    void cancel() { is_cancelled_.store(true); }

private:
    void take_back() {
        assert(!blocks_.empty());
        blocks_.pop_back();
    }

    std::atomic<bool> is_cancelled_{false};
    std::vector<int> blocks_;
};

int main() {
    Copy copy;
    std::thread copier([&] { copy.run(); });
    std::thread user([&] { copy.cancel(); });
    copier.join();
    user.join();
}
