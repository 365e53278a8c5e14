// A customer pays in under the account's lock while the bank adds the month's interest under the same lock. Opening
// the account and looking at it in the end need none: there is one thread then.
//@ none
#include <cassert>
#include <mutex>
#include <thread>

class Account {
public:
    explicit Account(long cents) : cents_(cents) {}

    void deposit(long amount) {
        std::lock_guard guard(lock_);
        cents_ += amount;
    }

    void add_interest(long amount) {
        std::lock_guard guard(lock_);
        cents_ += amount;
    }

    long cents() const { return cents_; }

private:
    std::mutex lock_;
    long cents_;
};

int main() {
    Account account(1000);
    std::thread customer([&] { account.deposit(500); });
    std::thread bank([&] { account.add_interest(30); });
    customer.join();
    bank.join();
    assert(account.cents() == 1530);
}
