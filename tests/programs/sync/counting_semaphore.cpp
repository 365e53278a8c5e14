// exercises: std::counting_semaphore and binary_semaphore: acquire, release(n), try_acquire, try_acquire_for
//
// Each semaphore has one thread that waits for it. With several, acquire() of libstdc++ 12 can itself sleep for ever: it
// hands the futex the value that it read before it lost the race for it, which may be current again by then.
#include <cassert>
#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

enum { CAPACITY = 2, ITEMS = 8 };

static std::counting_semaphore<CAPACITY> free_slots(CAPACITY), items(0);
static std::binary_semaphore finished(0);
static int buffer[CAPACITY], sum;
static std::counting_semaphore<8> permits(3);

static void produce() {
    for (int i = 0; i < ITEMS; i++) {
        free_slots.acquire();
        buffer[i % CAPACITY] = i;
        items.release();
    }
}

static void consume() {
    for (int i = 0; i < ITEMS; i++) {
        while (!items.try_acquire_for(1s))
            ;
        sum += buffer[i % CAPACITY];
        free_slots.release();
    }
    finished.release();
}

static void take_and_return() {
    for (int i = 0; i < 5; i++)
        if (permits.try_acquire())
            permits.release();
}

int main() {
    std::vector<std::thread> threads;
    threads.emplace_back(produce);
    threads.emplace_back(consume);
    threads.emplace_back(take_and_return);
    threads.emplace_back(take_and_return);
    finished.acquire();
    for (auto &thread : threads)
        thread.join();
    assert(sum == ITEMS * (ITEMS - 1) / 2);
    assert(permits.try_acquire() && permits.try_acquire() && permits.try_acquire());
    assert(!permits.try_acquire() && !permits.try_acquire_for(2ms));
    permits.release(3);
    assert(permits.try_acquire());
}
