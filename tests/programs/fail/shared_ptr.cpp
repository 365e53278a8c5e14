// bug: one thread copies a shared_ptr while another assigns to it; the copy may count a control block that is gone
// expect: use-after-free|double-free|crash|signal|abort
#include <memory>
#include <thread>

struct Model {
    int version;
};

static std::shared_ptr<Model> current = std::make_shared<Model>(Model{1});

int main() {
    int seen = 0;
    std::thread reader([&] {
        std::shared_ptr<Model> copy = current;
        seen = copy->version;
    });
    current = std::make_shared<Model>(Model{2});
    reader.join();
    return seen == 1 || seen == 2 ? 0 : 1;
}
