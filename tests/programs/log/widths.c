// logs: plain reads and writes of 1, 2, 4 and 8 bytes, floating point and pointers, and copied and cleared ranges
//
//   object NAME ADDRESS SIZE
//   thread THREAD read|write NAME VALUE     VALUE is the bits as an unsigned number
//   thread THREAD read-range|write-range NAME LENGTH
// The log goes to the file named by the first argument, or to standard output.
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static uint8_t byte;
static uint16_t half;
static uint32_t word;
static uint64_t wide;
static float real;
static double long_real;
static void *pointer;
static unsigned char source[48], target[48];
static char log_text[8192];
static size_t logged;
static size_t length = 40;

#define ACCESS(type, name)                                                                                            \
    __attribute__((noinline)) static type read_##name(void) { return name; }                                          \
    __attribute__((noinline)) static void write_##name(type value) { name = value; }
ACCESS(uint8_t, byte)
ACCESS(uint16_t, half)
ACCESS(uint32_t, word)
ACCESS(uint64_t, wide)
ACCESS(float, real)
ACCESS(double, long_real)
ACCESS(void *, pointer)

static void note(const char *op, const char *name, uint64_t value) {
    logged += (size_t)snprintf(log_text + logged, sizeof log_text - logged, "thread 1 %s %s %" PRIu64 "\n", op, name, value);
}

static uint64_t bits(const void *value, size_t size) {
    uint64_t result = 0;
    memcpy(&result, value, size);
    return result;
}

#define EXERCISE(type, name, value)                                                                                   \
    do {                                                                                                              \
        type fresh = value;                                                                                           \
        write_##name(fresh);                                                                                          \
        note("write", #name, bits(&fresh, sizeof fresh));                                                             \
        type seen = read_##name();                                                                                    \
        note("read", #name, bits(&seen, sizeof seen));                                                                \
    } while (0)

static void *worker(void *arg) {
    for (int i = 0; i < 3; i++) {
        EXERCISE(uint8_t, byte, 250 + i);
        EXERCISE(uint16_t, half, 65000 + i);
        EXERCISE(uint32_t, word, 4000000000u + i);
        EXERCISE(uint64_t, wide, (1ull << 60) + i);
        EXERCISE(float, real, 1.5f * (i + 1));
        EXERCISE(double, long_real, -2.25 * (i + 1));
        EXERCISE(void *, pointer, (char *)arg + i);
        memset(source, i + 1, length);
        note("write-range", "source", length);
        memcpy(target, source, length);
        note("read-range", "source", length);
        note("write-range", "target", length);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, source);
    pthread_join(thread, NULL);
    FILE *out = argc > 1 ? fopen(argv[1], "w") : stdout;
    if (!out)
        return 1;
#define OBJECT(name) fprintf(out, "object %s %p %zu\n", #name, (void *)&name, sizeof name)
    OBJECT(byte);
    OBJECT(half);
    OBJECT(word);
    OBJECT(wide);
    OBJECT(real);
    OBJECT(long_real);
    OBJECT(pointer);
    OBJECT(source);
    OBJECT(target);
    fputs(log_text, out);
    return fclose(out) == 0 ? 0 : 1;
}
