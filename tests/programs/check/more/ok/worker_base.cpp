// A base class runs a task in a thread of its own; a derived class says what the task is.
//@ none
#include <cassert>
#include <thread>

class Worker {
public:
    Worker() = default;
    virtual ~Worker() = default;
    void start() {
        thread_ = std::thread([this] { result_ = task(); });
    }
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
    squares.start();
    int sum = squares.wait();
    assert(sum == 14);
}
