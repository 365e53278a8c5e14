// exercises: function-local statics (__cxa_guard) raced by several threads; a constructor that throws is tried again; nested statics
#include <atomic>
#include <cassert>
#include <stdexcept>
#include <thread>
#include <vector>

static std::atomic<int> built{0}, nested_built{0}, attempts{0}, caught{0};

struct Nested {
    int value = 3;
    Nested() { nested_built++; }
};

static Nested &nested() {
    static Nested instance;
    return instance;
}

struct Table {
    std::vector<int> squares;
    Table() {
        built++;
        for (int i = 0; i < 8; i++) {
            squares.push_back(i * i * nested().value);
            std::this_thread::yield();
        }
    }
};

static Table &table() {
    static Table instance;
    return instance;
}

struct Fails {
    Fails() {
        if (attempts++ == 0)
            throw std::runtime_error("first attempt");
    }
};

static Fails &fails() {
    static Fails instance;
    return instance;
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([i] {
            if (i % 2)
                assert(nested().value == 3);
            assert(table().squares.size() == 8 && table().squares[7] == 147);
            for (bool done = false; !done;) {
                try {
                    fails();
                    done = true;
                } catch (const std::runtime_error &) {
                    caught++;
                }
            }
        });
    for (auto &thread : threads)
        thread.join();
    assert(built == 1 && nested_built == 1 && attempts == 2 && caught == 1);
}
