// Two senders share a connection; a sender that finds it broken closes it and opens a new one.
//@ none
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
    std::lock_guard<std::mutex> guard(lock);
    if (!is_broken.load())
        return;
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
