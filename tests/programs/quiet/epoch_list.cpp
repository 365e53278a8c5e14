// A list that is read without locks. Epochs say when a removed node may be freed: two turns after its removal no reader
// can have it any more.
#include <array>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

struct Node {
    int key, value;
    std::atomic<Node *> next;
};

class Epochs {
    static constexpr unsigned outside = ~0u;
    std::atomic<unsigned> global{0};
    std::array<std::atomic<unsigned>, 4> local{outside, outside, outside, outside};
    std::vector<std::pair<unsigned, Node *>> removed; // under the writers' lock

  public:
    class Pin {
        std::atomic<unsigned> &slot;

      public:
        Pin(Epochs &epochs, int reader) : slot(epochs.local[reader]) {
            // Sequentially consistent, all of it: the pin has to be seen before the list is read.
            slot.store(epochs.global.load());
        }
        ~Pin() { slot.store(outside, std::memory_order_release); }
    };

    ~Epochs() {
        for (auto [epoch, node] : removed)
            delete node;
    }

    /// The caller holds the writers' lock and has taken the node out of the list.
    int retire(Node *node) {
        unsigned now = global.load();
        removed.emplace_back(now, node);
        for (auto &slot : local)
            if (unsigned epoch = slot.load(); epoch != outside && epoch != now)
                return 0;
        global.store(++now);
        int freed = 0;
        std::erase_if(removed, [&](auto &entry) {
            bool is_old = entry.first + 2 <= now;
            if (is_old) {
                delete entry.second;
                freed++;
            }
            return is_old;
        });
        return freed;
    }
};

int main() {
    Epochs epochs;
    std::atomic<Node *> head{nullptr};
    std::mutex changing;
    for (int key = 4; key-- > 0;)
        head.store(new Node{key, key * 5, head.load()});
    std::atomic<int> freed{0};
    std::vector<std::thread> threads;
    for (int reader = 0; reader < 2; reader++)
        threads.emplace_back([&, reader] {
            for (int i = 0; i < 2; i++) {
                Epochs::Pin pin(epochs, reader);
                int last = -1;
                for (Node *node = head.load(); node != nullptr; node = node->next.load()) {
                    assert(node->key > last && node->value == node->key * 5);
                    last = node->key;
                }
            }
        });
    threads.emplace_back([&] {
        for (int i = 0; i < 4; i++) {
            std::lock_guard held(changing);
            Node *first = head.load();
            head.store(first->next.load());
            freed += epochs.retire(first);
        }
    });
    for (auto &thread : threads)
        thread.join();
    assert(head.load() == nullptr);
    std::printf("freed early: %d\n", freed.load());
}
