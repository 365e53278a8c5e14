/* A program that speaks the runtime's side of the protocol by itself, so that the launcher can be
   tested alone. The test passes the layout of the control block as macros. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIELD(type, at) (*(volatile type *)(control + (at)))

static char *control;
static int memory, channel;

static uint64_t record[] = {
    MODULE_MAGIC | (uint64_t)1 << 32, /* header: one record */
    0x1234,                           /* module */
    1 | 8 << 16,                      /* a plain write of eight bytes, index 0 */
};

static void attach(void) {
    if (sscanf(getenv("RADDLE_CONTROL"), "%d,%d", &memory, &channel) != 2)
        exit(70);
    size_t size = FILE_SIZE_UP_TO_RING;
    control = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (control == MAP_FAILED)
        exit(71);
    FIELD(uint32_t, STARTED) = 1;
    FIELD(uint32_t, THREAD_COUNT) = 1;
}

static void announce_sites(void) {
    uint64_t at = FIELD(uint64_t, SITES);
    if (pwrite(memory, record, sizeof record, (off_t)at) != sizeof record)
        exit(72);
    FIELD(uint64_t, IMAGES) = (uint64_t)record;
    FIELD(uint64_t, IMAGES + 8) = sizeof record;
    FIELD(uint64_t, SITES_LEN) = sizeof record;
    FIELD(uint32_t, IMAGE_COUNT) = 1;
}

/* Zeroes a chunk before it is written again. The launcher has emptied it, that is, its first slot. */
static void empty(uint64_t at, uint64_t bytes) {
    uint64_t first = 1;
    if (pread(memory, &first, 8, (off_t)at) != 8 || first != 0)
        exit(75);
    void *zeros = calloc(bytes, 1);
    if (pwrite(memory, zeros, bytes, (off_t)at) != (ssize_t)bytes)
        exit(77);
    free(zeros);
}

/* Writes `count` events, waiting for the launcher whenever the ring is full. */
static void write_events(uint64_t count) {
    uint64_t slots = FIELD(uint64_t, CHUNK_SLOTS), ring = FIELD(uint64_t, RING);
    uint32_t chunks = FIELD(uint64_t, RING + 8) / ((slots + SLACK) * 24), chunk = 0, busy = 0;
    uint64_t used = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (used == slots) {
            uint32_t message[2] = {chunk, (uint32_t)used};
            if (write(channel, message, 8) != 8)
                exit(73);
            busy++;
            chunk = (chunk + 1) % chunks;
            if (busy == chunks) {
                if (read(channel, message, 8) != 8)
                    exit(74);
                busy--;
            }
            empty(ring + chunk * (slots + SLACK) * 24, (slots + SLACK) * 24);
            FIELD(uint32_t, CURRENT_CHUNK) = chunk;
            used = 0;
        }
        uint64_t slot[3] = {(uint64_t)(record + 2), 0x1000, i};
        uint64_t at = ring + (chunk * (slots + SLACK) + used) * 24;
        if (pwrite(memory, slot, 24, (off_t)at) != 24)
            exit(76);
        used++;
    }
    FIELD(uint64_t, TICKS) = count;
}

int main(int argc, char **argv) {
    if (argc < 2 || !strcmp(argv[1], "ignore"))
        return 0;
    attach();
    if (!strcmp(argv[1], "bare"))
        return 0;
    announce_sites();
    if (!strcmp(argv[1], "events"))
        write_events(strtoull(argv[2], NULL, 10));
    if (!strcmp(argv[1], "exit"))
        return atoi(argv[2]);
    if (!strcmp(argv[1], "crash")) {
        write_events(3);
        raise(SIGSEGV);
    }
    if (!strcmp(argv[1], "hang")) {
        if (fork() == 0)
            printf("child %d\n", getpid()), fflush(stdout);
        for (;;)
            pause();
    }
    if (!strcmp(argv[1], "flood"))
        for (;;)
            puts("a line of no interest whatever, again and again and again");
    if (!strcmp(argv[1], "echo")) {
        char buffer[100];
        ssize_t len = read(0, buffer, sizeof buffer);
        fwrite(buffer, 1, (size_t)len, stdout);
        fprintf(stderr, "%s %s\n", getenv("TZ"), getenv("EXTRA"));
        for (int fd = 3; fd < 256; fd++)
            if (fcntl(fd, F_GETFD) != -1)
                fprintf(stderr, "fd %d\n", fd);
    }
    return 0;
}
