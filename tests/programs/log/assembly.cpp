// logs: what inline assembly does to memory of four widths, thread by thread, in the words of atomics.cpp; an update without
// lock is a read and a store, a string instruction a range
//
// The log goes to the file named by the first argument, or to standard output.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

static uint8_t narrow;
static uint16_t half;
static uint32_t word, untouched;
static uint64_t wide[2];
static char text[8], copy[2][8];
static uint32_t left[2] = {4, 4};
static std::vector<std::string> logs[3];

static void note(int thread, const char *op, const char *name, uint64_t first) {
    logs[thread].push_back(std::string(op) + " " + name + " " + std::to_string(first));
}

static void note(int thread, const char *op, const char *name, uint64_t first, uint64_t second) {
    note(thread, op, name, first);
    logs[thread].back() += " " + std::to_string(second);
}

/// Assembly that jumps.
static bool put(uint32_t *references) {
    __asm__ goto("lock; decl %0\n\tjz %l1" : : "m"(*references) : "memory", "cc" : zero);
    return false;
zero:
    return true;
}

/// Operands that are handed over as memory.
static void by_memory(int thread, unsigned i) {
    uint8_t before = 3;
    __asm__ volatile("lock; xaddb %0, %1" : "+q"(before), "+m"(narrow) : : "memory", "cc");
    note(thread, "rmw", "narrow", before, uint8_t(before + 3));

    uint64_t swapped = (uint64_t(thread) << 40) + i, fresh = swapped;
    __asm__ volatile("xchg %0, %1" : "+r"(swapped), "+m"(wide[0]) : : "memory");
    note(thread, "rmw", "wide", swapped, fresh);

    uint32_t found;
    __asm__ volatile("movl %1, %0" : "=r"(found) : "m"(word) : "memory");
    note(thread, "load", "word", found);

    uint32_t wanted = thread * 1000 + i;
    bool done;
    __asm__ volatile("lock\n\tcmpxchgl %3, %1\n\tsete %0" : "=q"(done), "+m"(word), "+a"(found) : "r"(wanted) : "memory", "cc");
    if (done)
        note(thread, "rmw", "word", found, wanted);
    else
        note(thread, "cas-failed", "word", found);

    // The address is computed, and nothing is accessed there.
    uint32_t *address;
    __asm__("leaq %1, %0" : "=r"(address) : "m"(untouched));
    __asm__ volatile("prefetcht0 %0" : : "m"(untouched));
    __asm__ volatile("" : "+m"(untouched));
}

/// Addresses that are handed over in registers.
static void by_register(int thread, unsigned i) {
    uint16_t value = uint16_t(thread * 100 + i);
    if (i % 2)
        __asm__ volatile("movw %1, (%0)" : : "r"(&half), "r"(value) : "memory");
    else
        __asm__ volatile("movw %1, %a0" : : "p"(&half), "r"(value) : "memory");
    note(thread, "store", "half", value);

    uint64_t found;
    __asm__ volatile("movq 8(%1), %0" : "=r"(found) : "r"(wide) : "memory");
    note(thread, "load", "wide1", found);

    // The other thread may come before or after, but not in between.
    uint64_t *base = wide;
    long index = 1;
    __asm__ volatile("incq (%1,%2,8)\n\tmovq (%1,%2,8), %0" : "=&r"(found) : "r"(base), "r"(index) : "memory", "cc");
    note(thread, "read", "wide1", found - 1);
    note(thread, "store", "wide1", found);

    char *to = copy[thread - 1];
    const char *from = text;
    unsigned long len = 8;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(len) : : "memory");
    note(thread, "read-range", "text", 8);
    note(thread, "write-range", thread == 1 ? "copy1" : "copy2", 8);
}

static void worker(int thread) {
    for (unsigned i = 0; i < 4; i++) {
        by_memory(thread, i);
        by_register(thread, i);
        if (put(&left[thread - 1]) != (i == 3))
            std::abort();
        note(thread, "rmw", thread == 1 ? "left1" : "left2", 4 - i, 3 - i);
    }
}

int main(int argc, char **argv) {
    std::thread first(worker, 1), second(worker, 2);
    first.join();
    second.join();
    FILE *out = argc > 1 ? std::fopen(argv[1], "w") : stdout;
    if (!out)
        return 1;
    std::fprintf(out, "object narrow %p 1\nobject half %p 2\nobject word %p 4\nobject untouched %p 4\n", (void *)&narrow,
                 (void *)&half, (void *)&word, (void *)&untouched);
    std::fprintf(out, "object wide %p 8\nobject wide1 %p 8\n", (void *)&wide[0], (void *)&wide[1]);
    std::fprintf(out, "object text %p 8\nobject copy1 %p 8\nobject copy2 %p 8\n", (void *)text, (void *)copy[0], (void *)copy[1]);
    std::fprintf(out, "object left1 %p 4\nobject left2 %p 4\n", (void *)&left[0], (void *)&left[1]);
    for (int thread = 1; thread <= 2; thread++)
        for (auto &line : logs[thread])
            std::fprintf(out, "thread %d %s\n", thread, line.c_str());
    return std::fclose(out) == 0 ? 0 : 1;
}
