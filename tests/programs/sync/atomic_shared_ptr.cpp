// exercises: std::atomic<std::shared_ptr>: load, store, exchange, compare_exchange from several threads
// races: maybe
// libstdc++ 12 gives its lock back without release where it has only read the pointer (`_Sp_atomic::load`).
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>
#include <vector>

struct Config {
    int version;
    int check;
};

static std::atomic<std::shared_ptr<const Config>> current;

int main() {
    current.store(std::make_shared<Config>(Config{0, 0}));
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([] {
            for (int round = 0; round < 4; round++) {
                auto seen = current.load();
                std::shared_ptr<const Config> next;
                do
                    next = std::make_shared<Config>(Config{seen->version + 1, -seen->version - 1});
                while (!current.compare_exchange_strong(seen, next));
            }
        });
    threads.emplace_back([] {
        int last = 0;
        for (int round = 0; round < 6; round++) {
            auto seen = current.load();
            assert(seen->check == -seen->version && seen->version >= last);
            last = seen->version;
        }
    });
    for (auto &thread : threads)
        thread.join();
    auto last = current.exchange(nullptr);
    assert(last->version == 8 && last.use_count() == 1);
}
