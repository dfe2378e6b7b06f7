/* Implements sequences.h: neighbours share most of their terms, so that four registers of sums take the same number of
 * b at once. Terms that only some of these neighbours have are added one by one. Compiled once per level.
 * simd/signal/signal_convolve.c reads the table. */
#include "kernels/cpu/signal/sequences.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/cpu/support/level.h"

extern const nd4c_sequences_table ND4C_LEVEL_NAME(nd4c_sequences_table);

#if defined(__AVX512F__)
enum { REGISTER = 64 };
#elif defined(__AVX2__)
enum { REGISTER = 32 };
#else
enum { REGISTER = 16 };
#endif
enum { LANES = REGISTER / 8, BLOCK = 4 * LANES };

static inline int64_t least_of(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t most_of(int64_t a, int64_t b) {
  return a > b ? a : b;
}

#define NAME(name) ND4C_LEVEL_PASTE(name, DTYPE)

#define DTYPE float64
#define T double
#include "kernels/cpu/signal/sequences_loops.h"
#undef T
#undef DTYPE
#define DTYPE uint64
#define T uint64_t
#include "kernels/cpu/signal/sequences_loops.h"
#undef T
#undef DTYPE

const nd4c_sequences_table ND4C_LEVEL_NAME(nd4c_sequences_table) = {.float64 = convolve_float64,
                                                                    .uint64 = convolve_uint64};
