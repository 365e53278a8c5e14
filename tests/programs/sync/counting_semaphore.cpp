// exercises: std::counting_semaphore and binary_semaphore: acquire, release(n), try_acquire, try_acquire_for
#include <atomic>
#include <cassert>
#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

static std::counting_semaphore<4> permits(0);
static std::binary_semaphore mutex(1);
static std::atomic<int> inside{0};
static int total;

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([] {
            for (int round = 0; round < 5; round++) {
                permits.acquire();
                assert(inside.fetch_add(1) < 2);
                mutex.acquire();
                total++;
                mutex.release();
                inside.fetch_sub(1);
                permits.release();
            }
        });
    permits.release(2);
    for (auto &thread : threads)
        thread.join();
    assert(total == 15);
    assert(permits.try_acquire() && permits.try_acquire() && !permits.try_acquire());
    assert(!permits.try_acquire_for(2ms));
    std::thread late([] { permits.release(); });
    while (!permits.try_acquire_for(1s))
        ;
    late.join();
}
