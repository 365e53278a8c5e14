// A document computes its digest when it is asked for the first time and remembers it; asking is a const call.
//@ none
#include <cassert>
#include <mutex>
#include <thread>

class Document {
public:
    int digest() const {
        std::lock_guard<std::mutex> guard(lock_);
        if (!is_known_) {
            is_known_ = true;
            digest_ = words_ * 31;
        }
        return digest_;
    }

private:
    int words_ = 3;
    mutable bool is_known_ = false;
    mutable int digest_ = 0;
    mutable std::mutex lock_;
};

int main() {
    Document document;
    int digests[2];
    std::thread check([&] { digests[0] = document.digest(); });
    std::thread index([&] { digests[1] = document.digest(); });
    check.join();
    index.join();
    assert(digests[0] == 93 && digests[1] == 93);
}
