// hostile: as vectors.c, with registers of more than 16 bytes.
#define TARGET __attribute__((target("avx2")))
#define LANES 4
#define IS_SUPPORTED __builtin_cpu_supports("avx2")
#include "vectors.c"
