// build: -fopenmp
// exercises: OpenMP's teams, barriers, reductions, locks and ordered loops, more threads than processors
#include <assert.h>
#include <omp.h>

int main(void) {
    int sum = 0, count = 0, last = -1;
#pragma omp parallel for reduction(+ : sum) num_threads(3) schedule(dynamic)
    for (int i = 0; i < 30; i++)
        sum += i;
    assert(sum == 435);
#pragma omp parallel num_threads(4)
    {
#pragma omp critical
        count++;
#pragma omp barrier
#pragma omp single
        count += 10;
#pragma omp atomic
        count += 100;
    }
    assert(count == 414);
#pragma omp parallel for ordered num_threads(2)
    for (int i = 0; i < 4; i++) {
#pragma omp ordered
        {
            assert(last == i - 1);
            last = i;
        }
    }
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        omp_set_lock(&lock);
        count++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    assert(count == 416 && omp_get_wtime() > 0);
    return 0;
}
