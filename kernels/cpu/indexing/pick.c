/* See pick.h. */
#include "kernels/cpu/indexing/pick.h"

#include <string.h>

#include "kernels/cpu/indexing/blocks.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/vector.h"

extern const nd4c_pick_table ND4C_LEVEL_NAME(nd4c_pick_table);

/* Blocks of several elements are picked, too: they lie where the first of those may. */
#define UNALIGNED __attribute__((aligned(1), may_alias))
typedef uint8_t unit_1;
typedef uint16_t UNALIGNED unit_2;
typedef uint32_t UNALIGNED unit_4;
typedef uint64_t UNALIGNED unit_8;
typedef struct unit_16 {
  unit_8 halves[2];
} unit_16;

/* -- indices ------------------------------------------------------------------------------------------------------- */

/* All are looked at: no branch stands in the way. In range means 0 .. 2 extent - 1 after extent is added. */
static bool in_range(int64_t n, const nd4c_indices *indices) {
  const int64_t extent = indices->extent;
  if (indices->wide) {
    const int64_t *index = indices->data;
    uint64_t outside = 0;
    for (int64_t i = 0; i < n; i++)
      outside |= (uint64_t)(index[i] < -extent) | (uint64_t)(index[i] >= extent);
    return outside == 0;
  }
  const int32_t *index = indices->data;
  const int32_t low = extent > INT32_MAX ? INT32_MIN : (int32_t)-extent;
  const int32_t high = extent > INT32_MAX ? INT32_MAX : (int32_t)(extent - 1);
  uint32_t outside = 0;
  for (int64_t i = 0; i < n; i++)
    outside |= (uint32_t)(index[i] < low) | (uint32_t)(index[i] > high);
  return outside == 0;
}

#define WIDE(i) (wide[i] + (wide[i] < 0 ? extent : 0))
#define NARROW(i) (narrow[i] + (narrow[i] < 0 ? extent : 0))

/* Loops of their own for wide and narrow indices, and where neighbours are one element apart. */
#define OVER_INDICES(PLACE)                      \
  const int64_t extent = indices->extent;        \
  const int64_t *wide = indices->data;           \
  const int32_t *narrow = indices->data;         \
  if (indices->wide && stride == 1 && step == 0) \
    for (int64_t i = 0; i < n; i++)              \
      PLACE(WIDE(i));                            \
  else if (stride == 1 && step == 0)             \
    for (int64_t i = 0; i < n; i++)              \
      PLACE(NARROW(i));                          \
  else if (indices->wide)                        \
    for (int64_t i = 0; i < n; i++)              \
      PLACE(WIDE(i) * stride + i * step);        \
  else                                           \
    for (int64_t i = 0; i < n; i++)              \
      PLACE(NARROW(i) * stride + i * step);

#define PICK_ONE(at) to[i] = from[at]
#define PLACE_ONE(at) to[at] = from[i]
#define ADD_ONE(at) to[at] = ADD(to[at], from[i])

/* Loads one by one: a gather instruction takes half as long again on Zen 5, from whatever cache. */
#define PICK(size)                                                                                                 \
  static void pick_##size(int64_t n, const nd4c_indices *indices, const void *vfrom, int64_t stride, int64_t step, \
                          void *vto) {                                                                             \
    const unit_##size *from = vfrom;                                                                               \
    unit_##size *restrict to = vto;                                                                                \
    OVER_INDICES(PICK_ONE)                                                                                         \
  }                                                                                                                \
  static void place_##size(int64_t n, const nd4c_indices *indices, const void *vfrom, void *vto, int64_t stride,   \
                           int64_t step) {                                                                         \
    const unit_##size *from = vfrom;                                                                               \
    unit_##size *to = vto;                                                                                         \
    OVER_INDICES(PLACE_ONE)                                                                                        \
  }
PICK(1)
PICK(2)
PICK(4)
PICK(8)
PICK(16)

static void pick_blocks(int64_t n, const nd4c_indices *indices, int64_t bytes, const void *vfrom, void *vto) {
  enum { FORESEEN = 8, ASKED = 256 }; /* blocks ahead, bytes of one */
  const int64_t extent = indices->extent, *wide = indices->data;
  const int32_t *narrow = indices->data;
  const char *from = vfrom;
  char *to = vto;
  for (int64_t i = 0; i < n; i++, to += bytes) {
    if (i + FORESEEN < n) {
      const char *next = from + (indices->wide ? WIDE(i + FORESEEN) : NARROW(i + FORESEEN)) * bytes;
      for (int64_t line = 0; line < bytes && line < ASKED; line += ND4C_STREAM_BLOCK)
        ND4C_PREFETCH((uintptr_t)(next + line));
    }
    nd4c_copy_block(to, from + (indices->wide ? WIDE(i) : NARROW(i)) * bytes, bytes);
  }
}

#define ADDITION(name, type)                                                                                   \
  static void add_##name(int64_t n, const nd4c_indices *indices, const void *vfrom, void *vto, int64_t stride, \
                         int64_t step) {                                                                       \
    const type *from = vfrom;                                                                                  \
    type *to = vto;                                                                                            \
    OVER_INDICES(ADD_ONE)                                                                                      \
  }
#define ADD(a, b) ((a) + (b))
ADDITION(float32, float)
ADDITION(float64, double)
ADDITION(integer32, uint32_t)
ADDITION(integer64, uint64_t)

/* -- repeating ----------------------------------------------------------------------------------------------------- */

#define COUNT(i) (counts->wide ? wide[i] : narrow[i])
#define REPEAT_REST(size)                                                                                   \
  static void repeat_rest_##size(int64_t n, const nd4c_indices *counts, int64_t i, const unit_##size *from, \
                                 unit_##size *to) {                                                         \
    const int64_t *wide = counts->data;                                                                     \
    const int32_t *narrow = counts->data;                                                                   \
    for (; i < n; i++)                                                                                      \
      for (int64_t k = COUNT(i); k > 0; k--)                                                                \
        *to++ = from[i];                                                                                    \
  }
REPEAT_REST(1)
REPEAT_REST(2)
REPEAT_REST(4)
REPEAT_REST(8)
REPEAT_REST(16)

/* A vector of each element is written, whatever its count, and what is too much overwritten by the next one. */
#define REPEAT(size)                                                                                              \
  static void repeat_##size(int64_t n, const nd4c_indices *counts, const void *vfrom, void *vto, int64_t total) { \
    enum { LANES = 32 / size };                                                                                   \
    typedef uint##size##_lanes lanes;                                                                             \
    const int64_t *wide = counts->data;                                                                           \
    const int32_t *narrow = counts->data;                                                                         \
    const unit_##size *from = vfrom;                                                                              \
    unit_##size *to = vto;                                                                                        \
    int64_t i = 0, done = 0;                                                                                      \
    for (; i < n; i++) {                                                                                          \
      const int64_t count = COUNT(i);                                                                             \
      if (done + count + LANES > total)                                                                           \
        break;                                                                                                    \
      const lanes line = (lanes){0} + from[i];                                                                    \
      *(lanes *)(void *)(to + done) = line;                                                                       \
      for (int64_t k = LANES; k < count; k += LANES)                                                              \
        *(lanes *)(void *)(to + done + k) = line;                                                                 \
      done += count;                                                                                              \
    }                                                                                                             \
    repeat_rest_##size(n, counts, i, from, to + done);                                                            \
  }
typedef uint8_t uint1_lanes __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint16_t uint2_lanes __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint32_t uint4_lanes __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint64_t uint8_lanes __attribute__((vector_size(32), aligned(1), may_alias));
REPEAT(1)
REPEAT(2)
REPEAT(4)
REPEAT(8)

static void repeat_16(int64_t n, const nd4c_indices *counts, const void *from, void *to, int64_t total) {
  (void)total;
  repeat_rest_16(n, counts, 0, from, to);
}

/* -- masks --------------------------------------------------------------------------------------------------------- */

/* Each is written, but counts only if it is wanted, so there is no branch to predict. */
#define COMPRESS_REST(size)                                                                                        \
  static void compress_rest_##size(const uint8_t *mask, const unit_##size *from, unit_##size *to, int64_t count) { \
    for (int64_t i = 0, place = 0; place < count; i++) {                                                           \
      to[place] = from[i];                                                                                         \
      place += mask[i] != 0;                                                                                       \
    }                                                                                                              \
  }
COMPRESS_REST(1)
COMPRESS_REST(2)
COMPRESS_REST(4)
COMPRESS_REST(8)
COMPRESS_REST(16)

#if defined(__AVX512BW__)

/* 16 elements of 4 bytes at a time, 8 of 8; narrower ones are widened on the way. */
#define LOAD_1(p) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(p)))
#define LOAD_2(p) _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(p)))
#define LOAD_4(p) _mm512_loadu_si512(p)
#define LOAD_8(p) _mm512_loadu_si512(p)
#define STORE_1(p, v) _mm_storeu_si128((__m128i *)(p), _mm512_cvtepi32_epi8(v))
#define STORE_2(p, v) _mm256_storeu_si256((__m256i *)(p), _mm512_cvtepi32_epi16(v))
#define STORE_4(p, v) _mm512_storeu_si512(p, v)
#define STORE_8(p, v) _mm512_storeu_si512(p, v)
#define COMPRESS_WORDS(m, v) _mm512_maskz_compress_epi32((__mmask16)(m), v)
#define COMPRESS_LONGS(m, v) _mm512_maskz_compress_epi64((__mmask8)(m), v)

/* 64 at a time; whole vectors are stored as long as what lies behind them belongs to this call. */
#define COMPRESS(size, group, SQUEEZE)                                                                       \
  static void compress_##size(int64_t n, const uint8_t *mask, const void *vfrom, void *vto, int64_t count) { \
    const unit_##size *from = vfrom;                                                                         \
    unit_##size *to = vto;                                                                                   \
    int64_t i = 0, place = 0;                                                                                \
    for (; i + 64 <= n && place + 64 + (group) <= count; i += 64) {                                          \
      const __m512i bytes = _mm512_loadu_si512(mask + i);                                                    \
      uint64_t wanted = _mm512_test_epi8_mask(bytes, bytes);                                                 \
      for (int64_t k = 0; k < 64; k += (group), wanted >>= (group)) {                                        \
        const uint64_t some = wanted & ((UINT64_C(1) << (group)) - 1);                                       \
        STORE_##size(to + place, SQUEEZE(some, LOAD_##size(from + i + k)));                                  \
        place += __builtin_popcountll(some);                                                                 \
      }                                                                                                      \
    }                                                                                                        \
    compress_rest_##size(mask + i, from + i, to + place, count - place);                                     \
  }
COMPRESS(1, 16, COMPRESS_WORDS)
COMPRESS(2, 16, COMPRESS_WORDS)
COMPRESS(4, 16, COMPRESS_WORDS)
COMPRESS(8, 8, COMPRESS_LONGS)

#else

#define COMPRESS(size)                                                                                     \
  static void compress_##size(int64_t n, const uint8_t *mask, const void *from, void *to, int64_t count) { \
    (void)n;                                                                                               \
    compress_rest_##size(mask, from, to, count);                                                           \
  }
COMPRESS(1)
COMPRESS(2)
COMPRESS(4)
COMPRESS(8)

#endif

static void compress_16(int64_t n, const uint8_t *mask, const void *from, void *to, int64_t count) {
  (void)n;
  compress_rest_16(mask, from, to, count);
}

#define BY_SIZE(name) \
  { [1] = name##_1, [2] = name##_2, [4] = name##_4, [8] = name##_8, [16] = name##_16 }
const nd4c_pick_table ND4C_LEVEL_NAME(nd4c_pick_table) = {
    .in_range = in_range,
    .pick = BY_SIZE(pick),
    .pick_blocks = pick_blocks,
    .place = BY_SIZE(place),
    .add = {[ND4C_FLOAT32] = add_float32,
            [ND4C_FLOAT64] = add_float64,
            [ND4C_INT32] = add_integer32,
            [ND4C_UINT32] = add_integer32,
            [ND4C_INT64] = add_integer64,
            [ND4C_UINT64] = add_integer64},
    .repeat = BY_SIZE(repeat),
    .compress = BY_SIZE(compress),
};
