// Two views share an image by a count in the image itself; the view that drops the last reference deletes it.
// bug: references are dropped relaxed, so the other view's last access may come after the delete
//@ expect: data-race|use-after-free
//@ also: data-race
//@ also: use-after-free
//@ consequence: none|crash
#include <atomic>
#include <thread>

class Image {
public:
    explicit Image(int references) : references_(references) {}

    int pixels() const { return pixels_; }
    void draw() { drawn_[pixels_ % 2] = true; }

    void drop() {
        if (references_.fetch_sub(1, std::memory_order_relaxed) == 1)
            delete this;
    }

private:
    ~Image() = default;

    std::atomic<int> references_;
    int pixels_ = 640;
    bool drawn_[2] = {};
};

int main() {
    auto *image = new Image(2);
    int seen = 0;
    std::thread show([image, &seen] {
        seen = image->pixels();
        image->drop();
    });
    std::thread print([image] {
        image->draw();
        image->drop();
    });
    show.join();
    print.join();
    return seen == 640 ? 0 : 1;
}
