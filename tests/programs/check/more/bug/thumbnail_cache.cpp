// Thumbnails are kept by weak pointers: a viewer that finds one alive uses it, and otherwise shows nothing.
// bug: the viewer asks whether the thumbnail is alive and takes a share of it afterwards, when it may be gone
//@ expect: assertion|atomicity-violation
//@ also: atomicity-violation
//@ consequence: assertion
#include <cassert>
#include <memory>
#include <thread>

struct Thumbnail {
    int width = 64;
};

static std::shared_ptr<Thumbnail> owner = std::make_shared<Thumbnail>();

static int show(const std::weak_ptr<Thumbnail> &cached) {
    if (cached.expired())
        return 0;
    std::shared_ptr<Thumbnail> mine = cached.lock();
    assert(mine != nullptr);
    return mine->width;
}

int main() {
    int width = 0;
    std::weak_ptr<Thumbnail> cached = owner;
    std::thread viewer([&width, &cached] { width = show(cached); });
    std::thread cleaner([] {
        owner.reset();
    });
    viewer.join();
    cleaner.join();
    return width == 0 || width == 64 ? 0 : 1;
}
