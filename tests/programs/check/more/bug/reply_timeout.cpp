// A client waits five milliseconds for a reply and then reads it.
// bug: whether the wait ended by a reply or by the time is not asked
//@ expect: null-dereference|crash
//@ also: data-race
//@ consequence: crash
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable replied;
static std::unique_ptr<int> reply;

static void answer() {
    std::lock_guard<std::mutex> guard(lock);
    reply = std::make_unique<int>(200);
    replied.notify_one();
}

static int ask() {
    std::unique_lock<std::mutex> guard(lock);
    auto has_reply = [] { return reply != nullptr; };
    replied.wait_for(guard, std::chrono::milliseconds(5), has_reply);
    return *reply;
}

int main() {
    std::thread server(answer);
    int status = ask();
    server.join();
    return status == 200 || status == 504 ? 0 : 1;
}
