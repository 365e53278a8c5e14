// An order book keeps its best bid and its best ask; a trade moves both. A trader that sees them cross alarms.
// bug: bid and ask are moved one after the other without a lock around both
//@ expect: atomic-set-violation
//@ also: atomicity-violation
//@ consequence: assertion
#include <cassert>
#include <mutex>
#include <thread>

class Book {
public:
    void move(int by) {
        {
            std::lock_guard<std::mutex> guard(lock_);
            bid_ += by;
        }
        std::lock_guard<std::mutex> guard(lock_);
        ask_ += by;
    }

    bool is_crossed() {
        std::lock_guard<std::mutex> guard(lock_);
        return bid_ >= ask_;
    }

private:
    std::mutex lock_;
    int bid_ = 99;
    int ask_ = 101;
};

int main() {
    Book book;
    bool alarm = false;
    std::thread exchange([&] { book.move(5); });
    std::thread trader([&] {
        alarm = book.is_crossed();
    });
    exchange.join();
    trader.join();
    assert(!alarm);
}
