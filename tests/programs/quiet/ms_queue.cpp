// The queue of Michael and Scott: two atomic ends, a dummy node, helping. Nodes are freed when all threads are done, so
// that no thread can meet an address again.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

template <typename T>
class Queue {
    struct Node {
        std::optional<T> value;
        std::atomic<Node *> next{nullptr};
        Node *retired = nullptr;
    };

    std::atomic<Node *> head, tail;
    std::atomic<Node *> graveyard{nullptr};

    void retire(Node *node) {
        node->retired = graveyard.load(std::memory_order_relaxed);
        while (!graveyard.compare_exchange_weak(node->retired, node, std::memory_order_release,
                                                std::memory_order_relaxed)) {
        }
    }

  public:
    Queue() {
        Node *dummy = new Node;
        head.store(dummy, std::memory_order_relaxed);
        tail.store(dummy, std::memory_order_relaxed);
    }

    ~Queue() {
        for (Node *node = graveyard.load(std::memory_order_acquire); node != nullptr;) {
            Node *next = node->retired;
            delete node;
            node = next;
        }
        for (Node *node = head.load(std::memory_order_acquire); node != nullptr;) {
            Node *next = node->next.load(std::memory_order_relaxed);
            delete node;
            node = next;
        }
    }

    void push(T value) {
        Node *node = new Node;
        node->value = std::move(value);
        for (;;) {
            Node *last = tail.load(std::memory_order_acquire);
            Node *next = last->next.load(std::memory_order_acquire);
            if (next != nullptr) {
                tail.compare_exchange_weak(last, next, std::memory_order_release, std::memory_order_relaxed);
                continue;
            }
            if (last->next.compare_exchange_weak(next, node, std::memory_order_release, std::memory_order_relaxed)) {
                tail.compare_exchange_strong(last, node, std::memory_order_release, std::memory_order_relaxed);
                return;
            }
        }
    }

    std::optional<T> pop() {
        for (;;) {
            Node *first = head.load(std::memory_order_acquire);
            Node *last = tail.load(std::memory_order_acquire);
            Node *next = first->next.load(std::memory_order_acquire);
            if (next == nullptr)
                return std::nullopt;
            if (first == last) {
                tail.compare_exchange_weak(last, next, std::memory_order_release, std::memory_order_relaxed);
                continue;
            }
            if (head.compare_exchange_weak(first, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
                // Only the thread that moved the head there takes the value of the new dummy.
                std::optional<T> value = std::move(next->value);
                retire(first);
                return value;
            }
        }
    }
};

int main() {
    constexpr int producers = 2, each = 3;
    Queue<std::unique_ptr<int>> queue;
    std::atomic<int> taken{0}, sum{0}, empty{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < producers; i++)
            threads.emplace_back([&queue, i] {
                for (int k = 0; k < each; k++)
                    queue.push(std::make_unique<int>(i * each + k));
            });
        for (int i = 0; i < 2; i++)
            threads.emplace_back([&] {
                while (taken.load(std::memory_order_relaxed) < producers * each) {
                    if (auto value = queue.pop(); value && *value) {
                        sum.fetch_add(**value, std::memory_order_relaxed);
                        taken.fetch_add(1, std::memory_order_relaxed);
                    } else {
                        empty.fetch_add(1, std::memory_order_relaxed);
                        std::this_thread::yield();
                    }
                }
            });
    }
    assert(taken == producers * each);
    assert(sum == taken * (taken - 1) / 2);
    std::printf("%d times empty\n", empty.load());
}
