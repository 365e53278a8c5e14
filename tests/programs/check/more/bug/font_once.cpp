// A font is loaded by whichever thread asks first; the others wait until its state says that it is loaded.
// bug: the state is stored and loaded relaxed, so a thread that sees it need not see the font
//@ expect: data-race load draw
//@ consequence: none|assertion
#include <atomic>
#include <cassert>
#include <thread>

enum State { NEW, LOADING, LOADED };

static std::atomic<int> state{NEW};
static int glyphs;

static void ensure_loaded() {
    if (state.load(std::memory_order_relaxed) == LOADED)
        return;
    int expected = NEW;
    if (state.compare_exchange_strong(expected, LOADING, std::memory_order_relaxed)) {
        glyphs = 256; // @load
        state.store(LOADED, std::memory_order_relaxed);
        return;
    }
    while (state.load(std::memory_order_relaxed) != LOADED)
        std::this_thread::yield();
}

static void draw() {
    ensure_loaded();
    int count = glyphs; // @draw
    assert(count == 256);
}

int main() {
    std::thread title(draw);
    std::thread body(draw);
    title.join();
    body.join();
}
