// A document computes its digest when it is asked for the first time and remembers it; asking is a const call.
// bug: remembering writes two members, although const calls from several threads are taken to be safe
//@ expect: data-race set_digest get_digest
//@ also: data-race
//@ consequence: none|assertion
#include <cassert>
#include <thread>

class Document {
public:
    int digest() const {
        if (!is_known_) {
            is_known_ = true;
            digest_ = words_ * 31; // @set_digest
        }
        return digest_; // @get_digest
    }

private:
    int words_ = 3;
    mutable bool is_known_ = false;
    mutable int digest_ = 0;
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
