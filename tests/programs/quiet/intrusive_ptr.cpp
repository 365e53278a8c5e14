// Documents with an intrusive count of references. Threads copy, move and drop their references; the last one deletes,
// after an acquire fence that pairs with the release of all others.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

static std::atomic<int> alive{0};

class Document {
    mutable std::atomic<unsigned> references{0};
    friend class Ref;

  public:
    std::vector<int> pages;

    explicit Document(int size) : pages(size, 7) { alive++; }
    ~Document() {
        for (int page : pages)
            assert(page >= 7);
        alive--;
    }
};

class Ref {
    Document *document = nullptr;

  public:
    Ref() = default;
    explicit Ref(Document *document) : document(document) { document->references.store(1, std::memory_order_relaxed); }
    Ref(const Ref &other) : document(other.document) {
        if (document != nullptr)
            document->references.fetch_add(1, std::memory_order_relaxed);
    }
    Ref(Ref &&other) noexcept : document(std::exchange(other.document, nullptr)) {}
    Ref &operator=(Ref other) noexcept {
        std::swap(document, other.document);
        return *this;
    }
    ~Ref() {
        if (document != nullptr && document->references.fetch_sub(1, std::memory_order_release) == 1) {
            std::atomic_thread_fence(std::memory_order_acquire);
            delete document;
        }
    }

    Document *operator->() const { return document; }
    explicit operator bool() const { return document != nullptr; }
    /// Whether there is no other reference, so that the document may be changed.
    bool is_unique() const { return document->references.load(std::memory_order_acquire) == 1; }
};

class Shelf {
    std::mutex lock;
    Ref current{new Document(2)};

  public:
    Ref get() {
        std::lock_guard held(lock);
        return current;
    }
    void replace(Ref document) {
        std::lock_guard held(lock);
        std::swap(current, document);
        // The old one is dropped after the lock: the parameter lives on until the call ends.
    }
};

int main() {
    {
        Shelf shelf;
        std::atomic<int> changed{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 2; i++)
            threads.emplace_back([&shelf] {
                for (int k = 0; k < 2; k++) {
                    Ref mine = shelf.get();
                    Ref copy = mine;
                    int sum = 0;
                    for (int page : copy->pages)
                        sum += page;
                    assert(sum >= 14);
                }
            });
        threads.emplace_back([&] {
            for (int k = 0; k < 2; k++) {
                Ref old = shelf.get();
                shelf.replace(Ref(new Document(3 + k)));
                // Readers that still have the old one keep it from being changed.
                if (old.is_unique()) {
                    old->pages[0]++;
                    changed++;
                }
            }
        });
        for (auto &thread : threads)
            thread.join();
        std::printf("changed: %d\n", changed.load());
    }
    assert(alive == 0);
}
