// corrected: the shared_ptr is copied and assigned under a lock
#include <memory>
#include <mutex>
#include <thread>

struct Model {
    int version;
};

static std::shared_ptr<Model> current = std::make_shared<Model>(Model{1});
static std::mutex lock;

int main() {
    int seen = 0;
    std::thread reader([&] {
        std::unique_lock guard(lock);
        std::shared_ptr<Model> copy = current;
        guard.unlock();
        seen = copy->version;
    });
    auto fresh = std::make_shared<Model>(Model{2});
    {
        std::lock_guard guard(lock);
        current = fresh;
    }
    reader.join();
    return seen == 1 || seen == 2 ? 0 : 1;
}
