// A font is loaded by whichever thread asks first; the others wait until its state says that it is loaded.
//@ none
#include <atomic>
#include <cassert>
#include <thread>

enum State { NEW, LOADING, LOADED };

static std::atomic<int> state{NEW};
static int glyphs;

static void ensure_loaded() {
    if (state.load(std::memory_order_acquire) == LOADED)
        return;
    int expected = NEW;
    if (state.compare_exchange_strong(expected, LOADING, std::memory_order_relaxed)) {
        glyphs = 256;
        state.store(LOADED, std::memory_order_release);
        return;
    }
    while (state.load(std::memory_order_acquire) != LOADED)
        std::this_thread::yield();
}

static void draw() {
    ensure_loaded();
    int count = glyphs;
    assert(count == 256);
}

int main() {
    std::thread title(draw);
    std::thread body(draw);
    title.join();
    body.join();
}
