// Requests take a shared pointer to the current routes; an administrator replaces them.
// bug: copying and replacing one shared_ptr object are not atomic, although its count is
//@ expect: data-race
//@ also: atomic-set-violation
//@ also: use-after-free
//@ also: double-free
//@ also: null-dereference
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

struct Routes {
    int version;
    int hops[3];
};

class Router {
public:
    std::shared_ptr<const Routes> routes() {
        return routes_;
    }

    void replace(std::shared_ptr<const Routes> fresh) {
        std::lock_guard guard(replacing_);
        routes_.swap(fresh);
    }

private:
    std::mutex replacing_;
    std::shared_ptr<const Routes> routes_ = std::make_shared<const Routes>(Routes{1, {4, 2, 1}});
};

int main() {
    Router router;
    std::thread request([&] {
        auto routes = router.routes();
        assert(routes->hops[0] == 4 * routes->version);
    });
    std::thread administrator([&] {
        router.replace(std::make_shared<const Routes>(Routes{2, {8, 4, 2}}));
    });
    request.join();
    administrator.join();
    assert(router.routes()->version == 2);
}
