// Actors with mailboxes: a till sends items to a stock keeper and an accountant, the accountant asks the stock keeper
// back, and each actor ends at a message that says so. State belongs to one actor and needs no lock.
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <utility>

class Actor {
    std::mutex lock;
    std::condition_variable arrived;
    std::queue<std::function<bool()>> mail;
    std::thread thread;

    void live() {
        for (bool goes_on = true; goes_on;) {
            std::unique_lock held(lock);
            arrived.wait(held, [this] { return !mail.empty(); });
            auto message = std::move(mail.front());
            mail.pop();
            held.unlock();
            goes_on = message();
        }
    }

    void post(std::function<bool()> message) {
        // The receiver may end, and be destroyed, as soon as the lock is free: it is woken before that.
        std::lock_guard held(lock);
        mail.push(std::move(message));
        arrived.notify_one();
    }

  public:
    void start() { thread = std::thread([this] { live(); }); }
    void send(std::function<void()> message) {
        post([message = std::move(message)] {
            message();
            return true;
        });
    }
    void stop() {
        post([] { return false; });
    }
    void join() { thread.join(); }
};

struct Stock : Actor {
    std::map<std::string, int> items{{"cup", 5}, {"plate", 2}};
    bool take(const std::string &item) {
        auto &left = items[item];
        return left > 0 && left-- > 0;
    }
};

struct Books : Actor {
    int sold = 0, sold_out = 0;
};

int main() {
    Stock stock;
    Books books;
    stock.start();
    books.start();
    auto sell = [&](const char *item) {
        stock.send([&, item] {
            bool is_there = stock.take(item);
            books.send([&books, is_there] { ++(is_there ? books.sold : books.sold_out); });
        });
    };
    std::thread till([&] {
        for (int i = 0; i < 3; i++)
            sell("cup");
    });
    std::thread other_till([&] {
        for (int i = 0; i < 3; i++)
            sell("plate");
    });
    till.join();
    other_till.join();
    // Stock comes to this message after all sales, and has sent all entries by then.
    stock.send([&books] { books.stop(); });
    stock.stop();
    stock.join();
    books.join();
    assert(books.sold == 5 && books.sold_out == 1);
    assert(stock.items["cup"] == 2 && stock.items["plate"] == 0);
    std::printf("sold %d\n", books.sold);
}
