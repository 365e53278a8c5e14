// A runtime for tests: no scheduling, every thread's slots in a buffer of its own, dumped as text
// to the file named by RADDLE_DUMP when the program exits.
//
// A line is `thread site kind order size role module index addr value` for an event,
// `thread mark head addr value` for any other slot, `thread bits value` for branch outcomes,
// `panic` for each panic.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef struct { uint64_t head, addr, value; } slot;
typedef struct { uint8_t kind, order, size, role; uint32_t index; } record;
typedef struct { uint32_t magic, count; uint64_t module; } header;

#define SLOTS (1u << 22)
#define SLACK 64
#define THREADS 64

__thread struct {
  slot *cur, *lim;
  int64_t bits;
} __raddle_cur __attribute__((tls_model("initial-exec"))) = {.bits = 1};

static struct { slot *base; slot **cur; int64_t *bits; } threads[THREADS];
static int count, panics, images;

__attribute__((preserve_most, used)) static void slow(void) {
  if (__raddle_cur.lim) abort();
  int me = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  size_t bytes = sizeof(slot) * (SLOTS + SLACK);
  slot *base = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  __raddle_cur.cur = base, __raddle_cur.lim = base + SLOTS;
  threads[me].cur = &__raddle_cur.cur, threads[me].bits = &__raddle_cur.bits;
  threads[me].base = base;
}

// Jumped to, with the return address in r11 and the program's r11 in xmm14. What lies right below the stack pointer is the
// program's. Returns with the stack pointer to be restored on top of the stack.
__asm__(".globl __raddle_slow\n"
        "__raddle_slow:\n"
        "lea -128(%rsp), %rsp\n"
        "push %rbp\n"
        "mov %rsp, %rbp\n"
        "and $-16, %rsp\n"
        "push %rbp\n"
        "addq $136, (%rsp)\n"
        "push %r11\n"
        "movq %xmm14, %r11\n"
        "push %r11\n"
        "push %r11\n"
        "call slow\n"
        "pop %r11\n"
        "pop %r11\n"
        "mov (%rbp), %rbp\n"
        "ret\n");

__attribute__((preserve_most)) void __raddle_branches(void) {
  if (!__raddle_cur.lim) slow();
  *__raddle_cur.cur++ = (slot){3, 0, (uint64_t)__raddle_cur.bits};
  __raddle_cur.bits = 1;
}

void __raddle_panic(uint32_t stage, void *frame) {
  (void)frame;
  panics += stage == 1;
}

void __raddle_image(const header *start, const header *stop, uint32_t version) {
  if (version != WIRE_VERSION || start >= stop) abort();
  images++;
  while (start < stop) {
    if (start->magic != 0x484d4452) abort();
    start = (const header *)((const char *)(start + 1) + 8 * (size_t)start->count);
  }
  if (start != stop) abort();
}

__attribute__((destructor)) static void dump(void) {
  const char *path = getenv("RADDLE_DUMP");
  FILE *out = path ? fopen(path, "w") : 0;
  if (!out) return;
  int n = __atomic_load_n(&count, __ATOMIC_RELAXED);
  // Buffers of threads that are gone end at their first empty slot; only main's registers remain.
  for (int t = 0; t < n; t++) {
    for (slot *s = threads[t].base; s->head; s++) {
      if (s->head < 0x10000) {
        fprintf(out, "%d mark %lu %lx %lx\n", t, s->head, s->addr, s->value);
        continue;
      }
      const record *r = (const record *)s->head;
      const header *h = (const header *)((const char *)(r - r->index)) - 1;
      fprintf(out, "%d site %u %u %u %u %016lx %u %lx %lx\n", t, r->kind, r->order, r->size, r->role,
              h->module, r->index, s->addr, s->value);
    }
  }
  if (n) fprintf(out, "0 bits %lx\n", (unsigned long)*threads[0].bits);
  for (int i = 0; i < panics; i++) fprintf(out, "panic\n");
  fprintf(out, "images %d\n", images);
  fclose(out);
}
