/* Counting and placing what is not zero, without branches on elements. Compiled once for each level. */
#include "kernels/cpu/nonzero.h"

#include "kernels/cpu/level.h"

/* Units counted in counters of their own width: as many as the narrowest hold. */
enum { BLOCK = 255, LANES = 64 };

#define NONZERO(bytes, unit)                                                                                 \
  static int64_t count_##bytes(int64_t n, const void *vx, uint64_t wide_mask) {                              \
    const unit *x = vx, mask = (unit)wide_mask;                                                              \
    int64_t total = 0, i = 0;                                                                                \
    while (i + LANES <= n) {                                                                                 \
      unit counts[LANES] = {0};                                                                              \
      int64_t rows = (n - i) / LANES < BLOCK ? (n - i) / LANES : BLOCK;                                      \
      for (int64_t row = 0; row < rows; row++, i += LANES)                                                   \
        for (int64_t lane = 0; lane < LANES; lane++)                                                         \
          counts[lane] = (unit)(counts[lane] + ((x[i + lane] & mask) != 0));                                 \
      for (int64_t lane = 0; lane < LANES; lane++)                                                           \
        total += (int64_t)counts[lane];                                                                      \
    }                                                                                                        \
    for (; i < n; i++)                                                                                       \
      total += (x[i] & mask) != 0;                                                                           \
    return total;                                                                                            \
  }                                                                                                          \
  static void places_##bytes(int64_t count, const void *vx, uint64_t wide_mask, int64_t first, int64_t *y) { \
    const unit *x = vx, mask = (unit)wide_mask;                                                              \
    for (int64_t i = 0, place = 0; place < count; i++) {                                                     \
      y[place] = first + i;                                                                                  \
      place += (x[i] & mask) != 0;                                                                           \
    }                                                                                                        \
  }
NONZERO(1, uint8_t)
NONZERO(2, uint16_t)
NONZERO(4, uint32_t)
NONZERO(8, uint64_t)

const nd4c_nonzero_table ND4C_LEVEL_NAME(nd4c_nonzero_table) = {
    .count = {[1] = count_1, [2] = count_2, [4] = count_4, [8] = count_8},
    .places = {[1] = places_1, [2] = places_2, [4] = places_4, [8] = places_8},
};
