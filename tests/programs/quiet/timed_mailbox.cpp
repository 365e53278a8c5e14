// A mailbox with timeouts that are handled: a reader that waited in vain does something else and asks again; a request
// whose answer comes too late is withdrawn, and the answer is dropped.
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

using namespace std::chrono_literals;

struct Request {
    std::mutex lock;
    std::condition_variable answered;
    std::optional<int> answer;
    bool is_withdrawn = false;
    int question = 0;
};

class Mailbox {
    std::mutex lock;
    std::condition_variable arrived;
    std::deque<std::shared_ptr<Request>> requests;
    bool is_closed = false;

  public:
    void put(std::shared_ptr<Request> request) {
        std::lock_guard held(lock);
        requests.push_back(std::move(request));
        arrived.notify_one();
    }
    void close() {
        std::lock_guard held(lock);
        is_closed = true;
        arrived.notify_all();
    }
    enum class Got { Request, Nothing, Closed };
    Got take(std::shared_ptr<Request> &request) {
        std::unique_lock held(lock);
        if (!arrived.wait_for(held, 1ms, [this] { return is_closed || !requests.empty(); }))
            return Got::Nothing;
        if (requests.empty())
            return Got::Closed;
        request = std::move(requests.front());
        requests.pop_front();
        return Got::Request;
    }
};

int main() {
    Mailbox mailbox;
    int idle = 0, dropped = 0, withdrawn = 0, answered = 0;
    std::thread server([&] {
        std::shared_ptr<Request> request;
        for (;;) {
            auto got = mailbox.take(request);
            if (got == Mailbox::Got::Closed)
                break;
            if (got == Mailbox::Got::Nothing) {
                idle++;
                continue;
            }
            std::this_thread::sleep_for(1ms);
            std::lock_guard held(request->lock);
            if (request->is_withdrawn) {
                dropped++;
            } else {
                request->answer = request->question * 2;
                request->answered.notify_one();
            }
        }
    });
    std::thread client([&] {
        for (int i = 0; i < 3; i++) {
            auto request = std::make_shared<Request>();
            request->question = i;
            mailbox.put(request);
            std::unique_lock held(request->lock);
            if (request->answered.wait_for(held, 2ms, [&] { return request->answer.has_value(); })) {
                assert(*request->answer == 2 * i);
                answered++;
            } else {
                request->is_withdrawn = true;
                withdrawn++;
            }
        }
        mailbox.close();
    });
    server.join();
    client.join();
    assert(answered + withdrawn == 3);
    assert(dropped == withdrawn);
    std::printf("answered %d, withdrawn %d, idle %d\n", answered, withdrawn, idle);
}
