// A deadlock: locks are called by what their guards are made for.
#include <memory>
#include <mutex>
#include <thread>

struct Account {
    long balance = 1;
    std::mutex lock;
};

struct Bank {
    Account one, other;
};

static std::mutex log_lock;

static void forwards(Bank &bank) {
    std::lock_guard<std::mutex> account(bank.one.lock);
    std::lock_guard<std::mutex> log(log_lock);
    bank.one.balance--;
}

static void backwards(Bank *bank) {
    std::unique_lock<std::mutex> log(log_lock);
    bank->one.lock.lock();
    bank->one.balance++;
    bank->one.lock.unlock();
}

int main() {
    auto bank = std::make_unique<Bank>();
    std::thread thread(forwards, std::ref(*bank));
    backwards(bank.get());
    thread.join();
}
