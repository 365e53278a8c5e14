// A subject tells its observers, one by one, while another thread adds an observer.
// bug: the list is gone through without the lock, and adding may move it elsewhere
//@ expect: use-after-free|data-race
//@ also: use-after-free
//@ also: data-race
//@ consequence: none|crash|assertion
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

class Subject {
public:
    Subject() : observers_{1, 2} {}

    int tell() {
        int told = 0;
        for (int observer : observers_) {
            told += observer > 0;
        }
        return told;
    }

    void add(int observer) {
        std::lock_guard<std::mutex> guard(lock_);
        observers_.push_back(observer);
    }

private:
    std::mutex lock_;
    std::vector<int> observers_;
};

int main() {
    Subject subject;
    int told = 0;
    std::thread event([&] { told = subject.tell(); });
    std::thread user([&] {
        subject.add(3);
    });
    event.join();
    user.join();
    assert(told == 2 || told == 3);
}
