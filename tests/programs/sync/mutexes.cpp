// exercises: std::mutex, timed_mutex, recursive_mutex, recursive_timed_mutex, lock_guard, unique_lock, scoped_lock, std::lock, try_lock
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

struct Account {
    std::mutex lock;
    long balance = 100;
};

static Account accounts[3];
static std::timed_mutex timed;
static std::recursive_mutex recursive;
static std::recursive_timed_mutex recursive_timed;
static int timed_count, recursive_count;

static void transfer(Account &from, Account &to, long amount) {
    std::scoped_lock both(from.lock, to.lock);
    from.balance -= amount;
    to.balance += amount;
}

static void swap_all(Account &a, Account &b) {
    std::unique_lock first(a.lock, std::defer_lock), second(b.lock, std::defer_lock);
    std::lock(first, second);
    std::swap(a.balance, b.balance);
}

static int factorial(int n) {
    std::lock_guard guard(recursive);
    recursive_count++;
    return n <= 1 ? 1 : n * factorial(n - 1);
}

static void worker(int me) {
    for (int i = 0; i < 5; i++) {
        transfer(accounts[(me + i) % 3], accounts[(me + i + 1) % 3], 7);
        swap_all(accounts[me], accounts[(me + 2) % 3]);
        while (!timed.try_lock_for(1s))
            ;
        timed_count++;
        timed.unlock();
        assert(factorial(4) == 24);
        if (recursive_timed.try_lock_until(std::chrono::steady_clock::now() + 1s)) {
            assert(recursive_timed.try_lock());
            recursive_timed.unlock();
            recursive_timed.unlock();
        }
    }
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(worker, i);
    for (auto &thread : threads)
        thread.join();
    assert(accounts[0].balance + accounts[1].balance + accounts[2].balance == 300);
    assert(timed_count == 15 && recursive_count == 60);
    std::lock_guard held(timed);
    std::thread([] { assert(!timed.try_lock() && !timed.try_lock_for(2ms)); }).join();
}
