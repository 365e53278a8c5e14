// A dispatcher calls the listener that is registered, without the lock; its owner unregisters it, waits until no
// call is under way, and deletes it.
//@ none
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

struct Listener {
    int heard = 0;
    int *sum;
    explicit Listener(int *into) : sum(into) {}
    void hear(int event) {
        heard++;
        *sum += event;
    }
};

class Dispatcher {
public:
    explicit Dispatcher(Listener *listener) : listener_(listener) {}

    void dispatch(int event) {
        Listener *listener;
        {
            std::lock_guard guard(lock_);
            listener = listener_;
            calls_++;
            running_++;
            changed_.notify_all();
        }
        if (listener != nullptr)
            listener->hear(event);
        std::lock_guard guard(lock_);
        running_--;
        changed_.notify_all();
    }

    void wait_for_first_call() {
        std::unique_lock guard(lock_);
        changed_.wait(guard, [this] { return calls_ > 0; });
    }

    void unregister() {
        std::unique_lock guard(lock_);
        listener_ = nullptr;
        changed_.wait(guard, [this] { return running_ == 0; });
    }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    Listener *listener_;
    int calls_ = 0;
    int running_ = 0;
};

int main() {
    int sum = 0;
    auto *listener = new Listener(&sum);
    Dispatcher dispatcher(listener);
    std::thread events([&] { dispatcher.dispatch(5); });
    dispatcher.wait_for_first_call();
    dispatcher.unregister();
    delete listener;
    events.join();
    assert(sum == 5);
}
