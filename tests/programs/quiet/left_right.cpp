// Left-right: two copies of a map, readers that announce themselves by counts and never wait, and a writer that changes
// the copy without readers, turns readers over to it, waits for the rest, and changes the other copy.
#include <array>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

template <typename T>
class LeftRight {
    std::array<T, 2> copies;
    std::array<std::atomic<int>, 2> readers{};
    std::atomic<int> side{0}, version{0};
    std::mutex writing;
    std::atomic<int> waits{0};

    void wait_for_readers(int of_version) {
        while (readers[of_version].load() != 0) {
            waits.fetch_add(1, std::memory_order_relaxed);
            std::this_thread::yield();
        }
    }

  public:
    template <typename F>
    auto read(F function) {
        // Sequentially consistent, so that the writer sees the count or the reader sees the new side.
        int own = version.load();
        readers[own].fetch_add(1);
        auto result = function(static_cast<const T &>(copies[side.load()]));
        readers[own].fetch_sub(1);
        return result;
    }

    template <typename F>
    void write(F function) {
        std::lock_guard held(writing);
        int old = side.load(std::memory_order_relaxed);
        function(copies[1 - old]);
        side.store(1 - old);
        int before = version.load(std::memory_order_relaxed);
        wait_for_readers(1 - before);
        version.store(1 - before);
        wait_for_readers(before);
        function(copies[old]);
    }

    int times_waited() const { return waits; }
};

int main() {
    LeftRight<std::map<int, int>> squares;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&squares] {
            std::size_t last = 0;
            for (int k = 0; k < 4; k++) {
                std::size_t size = squares.read([](const auto &map) {
                    for (auto [number, square] : map)
                        assert(square == number * number);
                    return map.size();
                });
                assert(size >= last);
                last = size;
            }
        });
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&squares, i] {
            for (int k = 0; k < 2; k++)
                squares.write([n = 2 * i + k](auto &map) { map[n] = n * n; });
        });
    for (auto &thread : threads)
        thread.join();
    assert(squares.read([](const auto &map) { return map.size(); }) == 4);
    std::printf("waited %d times\n", squares.times_waited());
}
