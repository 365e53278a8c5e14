// A cache under a shared mutex. Misses are computed without a lock, and the first result that comes in is kept; the
// numbers of hits are counted under the shared lock by atomics.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

class Thumbnails {
    struct Entry {
        std::string pixels;
        std::atomic<int> uses{0};
    };

    mutable std::shared_mutex lock;
    std::map<int, std::shared_ptr<Entry>> entries;
    std::atomic<int> wasted{0};

    static std::string render(int number) { return std::string(4, static_cast<char>('a' + number)); }

  public:
    std::string get(int number) {
        {
            std::shared_lock held(lock);
            if (auto found = entries.find(number); found != entries.end()) {
                found->second->uses.fetch_add(1, std::memory_order_relaxed);
                return found->second->pixels;
            }
        }
        auto entry = std::make_shared<Entry>();
        entry->pixels = render(number);
        std::unique_lock held(lock);
        // Another thread may have rendered it in the meantime.
        auto [place, is_new] = entries.try_emplace(number, entry);
        if (!is_new)
            wasted++;
        place->second->uses.fetch_add(1, std::memory_order_relaxed);
        return place->second->pixels;
    }

    void forget(int number) {
        std::unique_lock held(lock);
        entries.erase(number);
    }

    int uses() const {
        std::shared_lock held(lock);
        int sum = 0;
        for (const auto &[number, entry] : entries)
            sum += entry->uses.load(std::memory_order_relaxed);
        return sum;
    }

    int times_wasted() const { return wasted; }
};

int main() {
    constexpr int viewers = 3;
    Thumbnails thumbnails;
    std::vector<std::thread> threads;
    for (int i = 0; i < viewers; i++)
        threads.emplace_back([&thumbnails, i] {
            for (int k = 0; k < 2; k++) {
                int number = (i + k) % 2;
                assert(thumbnails.get(number) == std::string(4, static_cast<char>('a' + number)));
            }
        });
    threads.emplace_back([&thumbnails] {
        thumbnails.forget(1);
        int seen = thumbnails.uses();
        assert(seen >= 0 && seen <= 2 * viewers);
    });
    for (auto &thread : threads)
        thread.join();
    assert(thumbnails.uses() <= 2 * viewers);
    std::printf("used %d, wasted %d\n", thumbnails.uses(), thumbnails.times_wasted());
}
