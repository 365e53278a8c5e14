// exercises: std::shared_mutex and shared_timed_mutex with shared_lock and unique_lock, try and timed
#include <cassert>
#include <chrono>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

class Cache {
  public:
    int get(int key) {
        {
            std::shared_lock reading(lock_);
            auto found = values_.find(key);
            if (found != values_.end())
                return found->second;
        }
        std::unique_lock writing(lock_);
        auto [place, inserted] = values_.try_emplace(key, key * key);
        computed_ += inserted;
        return place->second;
    }
    int computed() {
        std::shared_lock reading(lock_);
        return computed_;
    }

  private:
    std::shared_mutex lock_;
    std::map<int, int> values_;
    int computed_ = 0;
};

static Cache cache;
static std::shared_timed_mutex timed;

int main() {
    std::vector<std::thread> threads;
    for (int me = 0; me < 3; me++)
        threads.emplace_back([me] {
            for (int i = 0; i < 6; i++) {
                int key = (i + me) % 4;
                assert(cache.get(key) == key * key);
            }
        });
    for (auto &thread : threads)
        thread.join();
    assert(cache.computed() == 4);

    std::shared_lock first(timed);
    std::thread([] {
        assert(timed.try_lock_shared());
        timed.unlock_shared();
        assert(!timed.try_lock());
        assert(!timed.try_lock_for(2ms));
    }).join();
    first.unlock();
    std::unique_lock alone(timed);
    std::thread([] { assert(!timed.try_lock_shared_for(2ms)); }).join();
}
