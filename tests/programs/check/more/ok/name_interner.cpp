// Names get numbers: a name that is known is found under a shared lock, a new one is added under the exclusive lock.
//@ none
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

class Interner {
public:
    std::size_t number(const std::string &name) {
        {
            std::shared_lock<std::shared_mutex> guard(lock_);
            std::size_t at = find(name);
            if (at < names_.size())
                return at;
        }
        std::unique_lock<std::shared_mutex> guard(lock_);
        std::size_t at = find(name);
        if (at < names_.size())
            return at;
        names_.push_back(name);
        return names_.size() - 1;
    }

    std::size_t size() const { return names_.size(); }

private:
    std::size_t find(const std::string &name) const {
        std::size_t at = 0;
        while (at < names_.size() && names_[at] != name)
            at++;
        return at;
    }

    std::shared_mutex lock_;
    std::vector<std::string> names_;
};

int main() {
    Interner interner;
    std::thread parser([&] { interner.number("main"); });
    std::thread linker([&] { interner.number("main"); });
    parser.join();
    linker.join();
    assert(interner.size() == 1);
}
