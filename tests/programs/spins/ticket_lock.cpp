// exercises: a ticket lock whose waiting threads measure, in an object on their stack, how long they wait
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kRounds = 30;
constexpr int kThreads = 3;

struct Statistics {
  long looks = 0;
  long longest = 0;
  void look() {
    looks++;
    if (looks > longest) longest = looks;
  }
};

class TicketLock {
 public:
  __attribute__((noinline)) void lock(Statistics &statistics) {
    const unsigned ticket = next_.fetch_add(1, std::memory_order_relaxed);
    while (serving_.load(std::memory_order_acquire) != ticket) statistics.look();
  }
  void unlock() {
    serving_.store(serving_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  std::atomic<unsigned> next_{0};
  std::atomic<unsigned> serving_{0};
};

TicketLock ticket_lock;
int total = 0;

void add() {
  for (int i = 0; i < kRounds; i++) {
    Statistics statistics;
    ticket_lock.lock(statistics);
    total++;
    std::this_thread::yield();
    ticket_lock.unlock();
  }
}

}  // namespace

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) threads.emplace_back(add);
  for (auto &thread : threads) thread.join();
  return total == kThreads * kRounds ? EXIT_SUCCESS : EXIT_FAILURE;
}
