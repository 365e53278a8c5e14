// exercises: std::latch (arrive_and_wait, count_down, try_wait) and std::barrier (completion function, arrive_and_drop)
#include <barrier>
#include <cassert>
#include <latch>
#include <thread>
#include <vector>

static int phases, contributions[3], total;

int main() {
    std::latch start(4), finished(3);
    auto on_completion = []() noexcept {
        phases++;
        for (int value : contributions)
            total += value;
    };
    std::barrier meeting(3, on_completion);
    std::vector<std::thread> threads;
    for (int me = 0; me < 3; me++)
        threads.emplace_back([&, me] {
            start.arrive_and_wait();
            for (int round = 0; round < 4; round++) {
                contributions[me] = 1;
                if (me == 2 && round == 2) {
                    meeting.arrive_and_drop();
                    break;
                }
                meeting.arrive_and_wait();
                assert(phases >= round + 1);
            }
            finished.count_down();
        });
    start.count_down();
    finished.wait();
    assert(finished.try_wait());
    for (auto &thread : threads)
        thread.join();
    assert(phases == 4);
    assert(total == 12);
}
