//@ none
//@ unconfirmed: 0

// Two Treiber stacks between which nodes go round, each way with release and acquire.

#include <atomic>
#include <cstdio>
#include <thread>

struct Node {
    int value;
    Node *next;
};

static std::atomic<Node *> full{nullptr};
static std::atomic<Node *> spare{nullptr};
static Node node;

static void push(std::atomic<Node *> &stack, Node *it, std::memory_order order) {
    Node *head = stack.load(std::memory_order_relaxed);
    do {
        it->next = head;
    } while (!stack.compare_exchange_weak(head, it, order, std::memory_order_relaxed));
}

static Node *take_all(std::atomic<Node *> &stack) {
    Node *head;
    while ((head = stack.exchange(nullptr, std::memory_order_acquire)) == nullptr) {
        std::this_thread::yield();
    }
    return head;
}

static void produce() {
    for (int round = 0; round < 2; round++) {
        Node *it = take_all(spare);
        it->value = round; // @write
        push(full, it, std::memory_order_release);
    }
}

static void consume() {
    for (int round = 0; round < 2; round++) {
        Node *it = take_all(full);
        if (it->value != round) { // @read
            std::puts("another value");
        }
        push(spare, it, std::memory_order_release);
    }
}

int main() {
    push(spare, &node, std::memory_order_release);
    std::thread producer(produce);
    std::thread consumer(consume);
    producer.join();
    consumer.join();
}
