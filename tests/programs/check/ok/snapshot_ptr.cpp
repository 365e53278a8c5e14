// Requests take a shared pointer to the current routes under a lock and use the routes without it; an administrator
// replaces them. The counts keep old routes alive as long as somebody uses them.
//@ none
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
        std::lock_guard guard(replacing_);
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
