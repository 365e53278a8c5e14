// logs: atomic loads, stores, exchanges, additions and compare-exchanges of three widths, thread by thread
//
//   object NAME ADDRESS SIZE
//   thread THREAD load|store NAME VALUE
//   thread THREAD rmw NAME OLD NEW       an exchange, an addition, or a compare-exchange that stored
//   thread THREAD cas-failed NAME OLD    a compare-exchange that did not
// The log goes to the file named by the first argument, or to standard output.
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

static std::atomic<uint8_t> narrow{0};
static std::atomic<uint32_t> word{0};
static std::atomic<uint64_t> wide{0};
static std::vector<std::string> logs[3];

static void note(int thread, const char *op, const char *name, uint64_t first) {
    logs[thread].push_back(std::string(op) + " " + name + " " + std::to_string(first));
}

static void note(int thread, const char *op, const char *name, uint64_t first, uint64_t second) {
    note(thread, op, name, first);
    logs[thread].back() += " " + std::to_string(second);
}

static void worker(int thread) {
    for (unsigned i = 0; i < 4; i++) {
        uint64_t fresh = (uint64_t(thread) << 40) + i;
        note(thread, "rmw", "wide", wide.exchange(fresh), fresh);
        uint8_t before = narrow.fetch_add(3, std::memory_order_acq_rel);
        note(thread, "rmw", "narrow", before, uint8_t(before + 3));
        uint32_t expected = word.load(std::memory_order_acquire);
        note(thread, "load", "word", expected);
        uint32_t wanted = thread * 1000 + i;
        if (word.compare_exchange_strong(expected, wanted))
            note(thread, "rmw", "word", expected, wanted);
        else
            note(thread, "cas-failed", "word", expected);
        word.store(wanted + 500, std::memory_order_release);
        note(thread, "store", "word", wanted + 500);
        note(thread, "load", "wide", wide.load(std::memory_order_relaxed));
    }
}

int main(int argc, char **argv) {
    std::thread first(worker, 1), second(worker, 2);
    first.join();
    second.join();
    FILE *out = argc > 1 ? std::fopen(argv[1], "w") : stdout;
    if (!out)
        return 1;
    std::fprintf(out, "object narrow %p 1\nobject word %p 4\nobject wide %p 8\n", (void *)&narrow, (void *)&word, (void *)&wide);
    for (int thread = 1; thread <= 2; thread++)
        for (auto &line : logs[thread])
            std::fprintf(out, "thread %d %s\n", thread, line.c_str());
    return std::fclose(out) == 0 ? 0 : 1;
}
