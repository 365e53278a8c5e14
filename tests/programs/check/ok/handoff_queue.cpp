// A reader thread hands messages to a writer thread through a queue; a message belongs to whoever has it, and nobody
// locks it: the queue's lock orders its uses.
//@ none
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>

struct Message {
    int payload;
    int stamp;
};

class Queue {
public:
    void push(std::shared_ptr<Message> message) {
        std::lock_guard guard(lock_);
        messages_.push(std::move(message));
        filled_.notify_one();
    }

    std::shared_ptr<Message> pop() {
        std::unique_lock guard(lock_);
        filled_.wait(guard, [this] { return !messages_.empty(); });
        auto message = std::move(messages_.front());
        messages_.pop();
        return message;
    }

private:
    std::mutex lock_;
    std::condition_variable filled_;
    std::queue<std::shared_ptr<Message>> messages_;
};

int main() {
    Queue queue;
    std::thread writer([&] {
        for (int i = 1; i <= 2; i++) {
            auto message = queue.pop();
            int stamp = message->stamp;
            assert(stamp == i);
        }
    });
    for (int i = 1; i <= 2; i++) {
        auto message = std::make_shared<Message>(Message{10 * i, 0});
        message->stamp = i;
        queue.push(std::move(message));
    }
    writer.join();
}
