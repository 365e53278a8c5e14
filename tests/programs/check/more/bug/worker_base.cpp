// A base class runs a task in a thread of its own; a derived class says what the task is.
// bug: the base's constructor starts the thread, which may run before the derived object is there
//@ expect: data-race|assertion
//@ also: data-race
//@ consequence: assertion
#include <cassert>
#include <thread>

class Worker {
public:
    Worker() : thread_([this] { result_ = task(); }) {}
    virtual ~Worker() = default;
    int wait() {
        thread_.join();
        return result_;
    }

protected:
    virtual int task() { return 0; }

private:
    int result_ = -1;
    std::thread thread_;
};

class Squares : public Worker {
public:
    explicit Squares(int up_to) : up_to_(up_to) {}

protected:
    int task() override {
        int sum = 0;
        for (int i = 1; i <= up_to_; i++)
            sum += i * i;
        return sum;
    }

private:
    int up_to_;
};

int main() {
    Squares squares(3);
    int sum = squares.wait();
    assert(sum == 14);
}
