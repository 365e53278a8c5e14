// A crash that no race leads to: the mean is computed before the first sample may be there.
#include <cstdlib>
#include <mutex>
#include <thread>

struct Samples {
    std::mutex lock;
    int sum = 0;
    int count = 0;

    void add(int value) {
        std::lock_guard<std::mutex> guard(lock);
        sum += value;
        count += 1;
    }

    int mean() {
        std::lock_guard<std::mutex> guard(lock);
        return sum / count;
    }
};

int main() {
    Samples samples;
    int mean = 0;
    std::thread writer([&] { samples.add(4); });
    std::thread reader([&] { mean = samples.mean(); });
    writer.join();
    reader.join();
    return mean == 4 ? EXIT_SUCCESS : EXIT_FAILURE;
}
