// hostile: thread-locals of a megabyte, gigabytes that are never touched, blocks that move when they grow
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <vector>

constexpr std::size_t MEGABYTE = 1 << 20, GIGABYTE = 1 << 30;

static thread_local char huge[MEGABYTE];
static thread_local std::vector<int> grown{1, 2, 3};
static std::mutex lock;
static long total;

static void locals(int me) {
    huge[me] = huge[MEGABYTE - 1 - me] = 1;
    for (int i = 0; i < 100; i++)
        grown.push_back(i);
    long sum = huge[0] + huge[1] + huge[2] + huge[MEGABYTE - 1] + huge[MEGABYTE - 2] + huge[MEGABYTE - 3];
    std::lock_guard guard(lock);
    total += sum * 1000 + static_cast<long>(grown.size());
}

static void blocks() {
    auto *lazy = static_cast<char *>(std::malloc(4 * GIGABYTE));
    assert(lazy);
    lazy[0] = lazy[3 * GIGABYTE] = 1;
    auto *zero = static_cast<char *>(std::calloc(GIGABYTE, 1));
    assert(zero && !zero[0] && !zero[GIGABYTE / 2] && !zero[GIGABYTE - 1]);
    std::size_t size = 64;
    auto *text = static_cast<char *>(std::malloc(size));
    std::memset(text, 'r', size);
    while (size < 8 * MEGABYTE) {
        text = static_cast<char *>(std::realloc(text, size * 2));
        assert(text[0] == 'r' && text[63] == 'r');
        size *= 2;
    }
    void *aligned = nullptr;
    assert(posix_memalign(&aligned, 2 * MEGABYTE, 10) == 0);
    assert(reinterpret_cast<std::size_t>(aligned) % (2 * MEGABYTE) == 0);
    void *volatile impossible = std::malloc(static_cast<std::size_t>(-1) / 4 * 3);
    assert(!impossible);
    auto *map = mmap(nullptr, MEGABYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    map = mremap(map, MEGABYTE, 64 * MEGABYTE, MREMAP_MAYMOVE);
    assert(map != MAP_FAILED);
    static_cast<char *>(map)[63 * MEGABYTE] = 1;
    munmap(map, 64 * MEGABYTE);
    std::free(aligned);
    std::free(text);
    std::free(zero);
    std::free(lazy);
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(locals, i);
    threads.emplace_back(blocks);
    threads.emplace_back(blocks);
    for (auto &thread : threads)
        thread.join();
    assert(total == 3 * (2000 + 103));
}
