// Catalogues are made when they are first asked for: double-checked locking with an atomic pointer, a function's
// static, and call_once with a first attempt that throws.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using Prices = std::map<std::string, int>;

class Shop {
    std::atomic<Prices *> prices{nullptr};
    std::mutex lock;
    std::atomic<int> made{0};

  public:
    ~Shop() { delete prices.load(); }

    const Prices &get() {
        Prices *there = prices.load(std::memory_order_acquire);
        if (there == nullptr) {
            std::lock_guard held(lock);
            there = prices.load(std::memory_order_relaxed);
            if (there == nullptr) {
                there = new Prices{{"nails", 3}, {"screws", 5}};
                made++;
                prices.store(there, std::memory_order_release);
            }
        }
        return *there;
    }

    int times_made() const { return made; }
};

static const Prices &defaults() {
    static const Prices prices{{"nails", 1}, {"screws", 2}};
    return prices;
}

class Archive {
    std::once_flag opened;
    std::vector<int> years;
    int attempts = 0;

  public:
    const std::vector<int> &get() {
        std::call_once(opened, [this] {
            if (++attempts == 1)
                throw std::runtime_error("the archive is locked");
            years = {1998, 2004, 2011};
        });
        return years;
    }
};

int main() {
    Shop shop;
    Archive archive;
    std::atomic<int> refused{0}, sum{0};
    std::vector<std::thread> customers;
    for (int i = 0; i < 3; i++)
        customers.emplace_back([&, i] {
            const char *ware = i % 2 == 0 ? "nails" : "screws";
            assert(shop.get().at(ware) > defaults().at(ware));
            for (;;) {
                try {
                    sum += archive.get().at(i);
                    break;
                } catch (const std::runtime_error &) {
                    refused++;
                }
            }
        });
    for (auto &customer : customers)
        customer.join();
    assert(shop.times_made() == 1);
    assert(refused == 1);
    assert(sum == 1998 + 2004 + 2011);
    std::puts("served");
}
