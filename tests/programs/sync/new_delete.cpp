// exercises: new, new[], aligned new, nothrow new, sized delete, shared_ptr and unique_ptr handed between threads
#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

struct alignas(128) Wide {
    long value;
};

struct Counted {
    static inline std::atomic<int> alive{0};
    int value;
    explicit Counted(int v) : value(v) { alive++; }
    ~Counted() { alive--; }
};

static std::mutex lock;
static std::vector<std::unique_ptr<Counted>> exchange;
static std::shared_ptr<const std::string> text = std::make_shared<std::string>("a string too long for the small buffer");

static void worker(int me) {
    auto mine = text;
    for (int i = 0; i < 5; i++) {
        auto *wide = new Wide{me + i};
        assert(reinterpret_cast<uintptr_t>(wide) % 128 == 0 && wide->value == me + i);
        delete wide;
        int *block = new (std::nothrow) int[16]{};
        block[15] = me;
        delete[] block;
        auto made = std::make_unique<Counted>(me);
        std::unique_ptr<Counted> taken;
        {
            std::lock_guard guard(lock);
            exchange.push_back(std::move(made));
            if (exchange.size() > 2) {
                taken = std::move(exchange.front());
                exchange.erase(exchange.begin());
            }
        }
        if (taken)
            assert(taken->value >= 0 && taken->value < 3);
    }
    assert(mine->size() > 20 && mine.use_count() >= 2);
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(worker, i);
    for (auto &thread : threads)
        thread.join();
    assert(text.use_count() == 1 && exchange.size() == 2 && Counted::alive == 2);
    exchange.clear();
    assert(Counted::alive == 0);
}
