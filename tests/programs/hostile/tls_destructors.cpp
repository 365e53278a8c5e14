// hostile: thread-local destructors that lock, signal, allocate and create further thread-locals, in many short threads
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <vector>

static std::mutex lock;
static std::condition_variable changed;
static int departed, late;

struct Late {
    int value = 1;
    ~Late() {
        std::lock_guard guard(lock);
        late += value;
        changed.notify_all();
    }
};

static Late &late_local() {
    static thread_local Late instance;
    return instance;
}

struct Farewell {
    std::unique_ptr<int> block = std::make_unique<int>(1);
    ~Farewell() {
        {
            std::lock_guard guard(lock);
            departed += *block;
            changed.notify_all();
        }
        late_local().value = 2;
    }
};

static thread_local Farewell farewell;
static pthread_key_t key;

static void after_locals(void *value) {
    std::lock_guard guard(lock);
    late += *static_cast<int *>(value);
}

int main() {
    static int hundred = 100;
    pthread_key_create(&key, after_locals);
    for (int i = 0; i < 6; i++)
        std::thread([i] {
            assert(*farewell.block == 1);
            if (i % 2)
                pthread_setspecific(key, &hundred);
        }).detach();
    std::unique_lock guard(lock);
    changed.wait(guard, [] { return departed == 6 && late % 100 == 12; });
    assert(late <= 312);
}
