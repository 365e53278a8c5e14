// The deque of Chase and Lev with the orders of Lê, Pop, Cohen and Zappa Nardelli: the owner works at the bottom,
// thieves steal from the top. Each task is done once.
#include <array>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>
#include <vector>

class Deque {
    static constexpr long capacity = 16;
    std::atomic<long> top{0}, bottom{0};
    std::array<std::atomic<int>, capacity> tasks{};

  public:
    enum class Steal { Done, Empty, Lost };

    void push(int task) {
        long b = bottom.load(std::memory_order_relaxed);
        long t = top.load(std::memory_order_acquire);
        assert(b - t < capacity);
        tasks[b % capacity].store(task, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        bottom.store(b + 1, std::memory_order_relaxed);
    }

    bool take(int &task) {
        long b = bottom.load(std::memory_order_relaxed) - 1;
        bottom.store(b, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        long t = top.load(std::memory_order_relaxed);
        if (t > b) {
            bottom.store(b + 1, std::memory_order_relaxed);
            return false;
        }
        task = tasks[b % capacity].load(std::memory_order_relaxed);
        if (t < b)
            return true;
        // The last one: a thief may be after it.
        bool won = top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed);
        bottom.store(b + 1, std::memory_order_relaxed);
        return won;
    }

    Steal steal(int &task) {
        long t = top.load(std::memory_order_acquire);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        long b = bottom.load(std::memory_order_acquire);
        if (t >= b)
            return Steal::Empty;
        task = tasks[t % capacity].load(std::memory_order_relaxed);
        if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
            return Steal::Lost;
        return Steal::Done;
    }
};

constexpr int count = 6;

struct Work {
    std::array<int, count> input{};
    std::array<int, count> result{};
    std::atomic<int> left{count};

    void execute(int task) {
        assert(result[task] == 0);
        result[task] = input[task] * 2;
        left.fetch_sub(1, std::memory_order_release);
    }
};

int main() {
    Deque deque;
    Work work;
    std::atomic<int> stolen{0}, lost{0};
    std::thread owner([&] {
        int task;
        for (int i = 0; i < count; i++) {
            work.input[i] = i + 1;
            deque.push(i);
            if (i % 2 == 1 && deque.take(task))
                work.execute(task);
        }
        while (deque.take(task))
            work.execute(task);
    });
    std::vector<std::thread> thieves;
    for (int i = 0; i < 2; i++)
        thieves.emplace_back([&] {
            while (work.left.load(std::memory_order_acquire) > 0) {
                int task;
                switch (deque.steal(task)) {
                case Deque::Steal::Done:
                    stolen++;
                    work.execute(task);
                    break;
                case Deque::Steal::Lost:
                    lost++;
                    break;
                case Deque::Steal::Empty:
                    std::this_thread::yield();
                }
            }
        });
    owner.join();
    for (auto &thief : thieves)
        thief.join();
    for (int i = 0; i < count; i++)
        assert(work.result[i] == 2 * (i + 1));
    std::printf("%d stolen, %d lost\n", stolen.load(), lost.load());
}
