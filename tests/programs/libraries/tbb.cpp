// build: -ltbb
// exercises: oneTBB's loops, reductions, groups of tasks and containers on its own threads
#include <atomic>
#include <cassert>
#include <functional>
#include <tbb/concurrent_queue.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

int main() {
    tbb::task_arena arena(3);
    std::atomic<int> sum{0};
    arena.execute([&] { tbb::parallel_for(0, 30, [&](int i) { sum += i; }); });
    assert(sum == 435);
    int total = 0;
    arena.execute([&] {
        total = tbb::parallel_reduce(
            tbb::blocked_range<int>(0, 30), 0,
            [](const tbb::blocked_range<int> &range, int part) {
                for (int i = range.begin(); i != range.end(); ++i)
                    part += i;
                return part;
            },
            std::plus<int>());
    });
    assert(total == 435);
    tbb::concurrent_queue<int> queue;
    tbb::task_group group;
    for (int i = 0; i < 4; i++)
        group.run([&queue, i] { queue.push(i); });
    group.wait();
    int found = 0, value;
    while (queue.try_pop(value))
        found += value + 1;
    assert(found == 10);
}
