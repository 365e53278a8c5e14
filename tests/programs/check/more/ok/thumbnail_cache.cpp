// Thumbnails are kept by weak pointers: a viewer that finds one alive uses it, and otherwise shows nothing.
//@ none
#include <cassert>
#include <memory>
#include <thread>

struct Thumbnail {
    int width = 64;
};

static std::shared_ptr<Thumbnail> owner = std::make_shared<Thumbnail>();

static int show(const std::weak_ptr<Thumbnail> &cached) {
    std::shared_ptr<Thumbnail> mine = cached.lock();
    if (mine == nullptr)
        return 0;
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
