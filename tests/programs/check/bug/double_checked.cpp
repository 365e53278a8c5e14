// A registry is made by whoever needs it first, under a lock; others take the quick way past the lock.
// bug: the pointer that the quick way reads is not atomic
//@ expect: data-race quick publish
//@ consequence: none
#include <cassert>
#include <mutex>
#include <string>
#include <thread>

struct Registry {
    std::string name;
    int entries;
};

Registry *registry;
static std::mutex making;
static int made;

static Registry *instance() {
    Registry *found = registry; // @quick
    if (found == nullptr) {
        std::lock_guard guard(making);
        found = registry;
        if (found == nullptr) {
            found = new Registry{"plugins", 3};
            made++;
            registry = found; // @publish
        }
    }
    return found;
}

int main() {
    std::thread first([] { assert(instance()->entries == 3); });
    std::thread second([] { assert(instance()->name == "plugins"); });
    first.join();
    second.join();
    assert(made == 1);
    delete instance();
}
