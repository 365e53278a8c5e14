// Two senders share a connection; a sender that finds it broken closes it and opens a new one.
// bug: both senders may find the same connection broken, and both close it
//@ expect: double-free|use-after-free|data-race
//@ also: double-free
//@ also: use-after-free
//@ also: data-race
//@ consequence: crash|none
#include <atomic>
#include <mutex>
#include <thread>

struct Connection {
    int sent = 0;
};

static std::mutex lock;
static std::atomic<bool> is_broken{false};
static Connection *connection = new Connection;

static void reopen() {
    delete connection;
    connection = new Connection;
    is_broken.store(false);
}

static void send() {
    if (is_broken.load()) {
        reopen();
    }
    std::lock_guard<std::mutex> guard(lock);
    connection->sent++;
}

int main() {
    std::thread first(send);
    std::thread second(send);
    std::thread network([] { is_broken.store(true); });
    first.join();
    second.join();
    network.join();
    delete connection;
}
