// build: -ltbb
// bug: the sum of a parallel loop is neither reduced nor atomic
#include <cassert>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

static int sum;

int main() {
    tbb::task_arena arena(2);
    arena.execute([] {
        tbb::parallel_for(0, 4, [](int i) { sum += i; }, tbb::simple_partitioner{});
    });
    assert(sum == 6);
}
