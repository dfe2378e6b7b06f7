/* See transpose.h. A block is a cache line wide and high: 16 rows of 16 elements of 4 bytes. */
#include "kernels/cpu/shape/transpose.h"

#include <string.h>

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/shape/squares.h"
#include "kernels/cpu/support/vector.h"

extern const nd4c_transpose_table ND4C_LEVEL_NAME(nd4c_transpose_table);

typedef uint8_t unit_1;
typedef uint16_t unit_2;
typedef uint32_t unit_4;
typedef uint64_t unit_8 __attribute__((aligned(4), may_alias)); /* complex64 lies where a float may */
typedef struct unit_16 {
  uint64_t halves[2];
} unit_16;

/* A block and where it goes: extents up to the side of one, pitches in bytes. */
typedef struct block {
  const char *from;
  char *to;
  int64_t from_pitch, to_pitch;
  int64_t rows, columns;
} block;

#if defined(__AVX512BW__)

/* -- blocks in registers ------------------------------------------------------------------------------------------- */

typedef __m512i line;
typedef enum block_kind { WHOLE, STREAMED, RAGGED } block_kind;

static inline uint64_t first_bytes(int64_t count) {
  return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

static inline line load_row(const block *b, block_kind kind, int64_t row, uint64_t mask) {
  const char *from = b->from + row * b->from_pitch;
  if (kind != RAGGED)
    return _mm512_loadu_si512(from);
  return row < b->rows ? _mm512_maskz_loadu_epi8(mask, from) : _mm512_setzero_si512();
}

static inline void store_row(const block *b, block_kind kind, int64_t row, line value, uint64_t mask) {
  char *to = b->to + row * b->to_pitch;
  if (kind == STREAMED)
    _mm512_stream_si512((line *)to, value);
  else if (kind == WHOLE)
    _mm512_storeu_si512(to, value);
  else if (row < b->columns)
    _mm512_mask_storeu_epi8(to, mask, value);
}

/* Transposes the 16-byte lanes of v[0], v[step], v[2 step], v[3 step]. */
static inline void transpose_lanes(line *v, int step) {
  line a = _mm512_shuffle_i64x2(v[0], v[step], 0x44), b = _mm512_shuffle_i64x2(v[0], v[step], 0xee);
  line c = _mm512_shuffle_i64x2(v[2 * step], v[3 * step], 0x44);
  line d = _mm512_shuffle_i64x2(v[2 * step], v[3 * step], 0xee);
  v[0] = _mm512_shuffle_i64x2(a, c, 0x88);
  v[step] = _mm512_shuffle_i64x2(a, c, 0xdd);
  v[2 * step] = _mm512_shuffle_i64x2(b, d, 0x88);
  v[3 * step] = _mm512_shuffle_i64x2(b, d, 0xdd);
}

/* 16 rows of 16 elements of 4 bytes. */
static inline void transpose_words(line *v) {
  line t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    v[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    v[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    v[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    v[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; i++)
    transpose_lanes(v + i, 4);
}

static inline void block_16(const block *b, block_kind kind, uint64_t load, uint64_t store) {
  line v[4];
  for (int i = 0; i < 4; i++)
    v[i] = load_row(b, kind, i, load);
  transpose_lanes(v, 1);
  for (int i = 0; i < 4; i++)
    store_row(b, kind, i, v[i], store);
}

static inline void block_8(const block *b, block_kind kind, uint64_t load, uint64_t store) {
  line v[8];
  for (int i = 0; i < 8; i += 2) {
    line even = load_row(b, kind, i, load), odd = load_row(b, kind, i + 1, load);
    v[i] = _mm512_unpacklo_epi64(even, odd);
    v[i + 1] = _mm512_unpackhi_epi64(even, odd);
  }
  transpose_lanes(v, 2);
  transpose_lanes(v + 1, 2);
  for (int i = 0; i < 8; i++)
    store_row(b, kind, i, v[i], store);
}

static inline void block_4(const block *b, block_kind kind, uint64_t load, uint64_t store) {
  line v[16];
  for (int i = 0; i < 16; i++)
    v[i] = load_row(b, kind, i, load);
  transpose_words(v);
  for (int i = 0; i < 16; i++)
    store_row(b, kind, i, v[i], store);
}

/* Two rows make one of pairs: those of the lower halves of the 16-byte lanes first, then those of the upper ones. */
static inline void block_2(const block *b, block_kind kind, uint64_t load, uint64_t store) {
  for (int half = 0; half < 2; half++) {
    line v[16];
    for (int i = 0; i < 16; i++) {
      line even = load_row(b, kind, 2 * i, load), odd = load_row(b, kind, 2 * i + 1, load);
      v[i] = half == 0 ? _mm512_unpacklo_epi16(even, odd) : _mm512_unpackhi_epi16(even, odd);
    }
    transpose_words(v);
    for (int i = 0; i < 16; i++)
      store_row(b, kind, i / 4 * 8 + half * 4 + i % 4, v[i], store);
  }
}

/* Four rows make one of fours, by quarters of the lanes. */
static inline void block_1(const block *b, block_kind kind, uint64_t load, uint64_t store) {
  for (int quarter = 0; quarter < 4; quarter++) {
    line v[16];
    for (int i = 0; i < 16; i++) {
      line r[4];
      for (int k = 0; k < 4; k++)
        r[k] = load_row(b, kind, 4 * i + k, load);
      line first = quarter < 2 ? _mm512_unpacklo_epi8(r[0], r[1]) : _mm512_unpackhi_epi8(r[0], r[1]);
      line second = quarter < 2 ? _mm512_unpacklo_epi8(r[2], r[3]) : _mm512_unpackhi_epi8(r[2], r[3]);
      v[i] = quarter % 2 == 0 ? _mm512_unpacklo_epi16(first, second) : _mm512_unpackhi_epi16(first, second);
    }
    transpose_words(v);
    for (int i = 0; i < 16; i++)
      store_row(b, kind, i / 4 * 16 + quarter * 4 + i % 4, v[i], store);
  }
}

#define BLOCK(size)                                                                           \
  static void run_block_##size(const block *b, bool stream) {                                 \
    enum { SIDE = ND4C_STREAM_BLOCK / size };                                                 \
    if (b->rows < SIDE || b->columns < SIDE)                                                  \
      block_##size(b, RAGGED, first_bytes(b->columns *(size)), first_bytes(b->rows *(size))); \
    else if (stream)                                                                          \
      block_##size(b, STREAMED, 0, 0);                                                        \
    else                                                                                      \
      block_##size(b, WHOLE, 0, 0);                                                           \
  }

#else

/* -- blocks by way of a buffer ------------------------------------------------------------------------------------- */

static inline void nd4c_transpose_16(const unit_16 *from, int64_t from_column, unit_16 *to, int64_t to_row) {
  (void)from_column;
  (void)to_row;
  *to = *from;
}

#define BLOCK(size)                                                             \
  static void run_block_##size(const block *b, bool stream) {                   \
    enum { SIDE = ND4C_STREAM_BLOCK / size, SQUARE = ND4C_SQUARE_##size };      \
    const int64_t pitch = b->from_pitch / size, to_pitch = b->to_pitch / size;  \
    const unit_##size *from = (const void *)b->from;                            \
    unit_##size *to = (void *)b->to;                                            \
    if (b->rows < SIDE || b->columns < SIDE) {                                  \
      for (int64_t c = 0; c < b->columns; c++)                                  \
        for (int64_t r = 0; r < b->rows; r++)                                   \
          to[c * to_pitch + r] = from[r * pitch + c];                           \
      return;                                                                   \
    }                                                                           \
    _Alignas(64) unit_##size lines[SIDE][SIDE];                                 \
    for (int64_t r = 0; r < SIDE; r += SQUARE)                                  \
      for (int64_t c = 0; c < SIDE; c += SQUARE)                                \
        nd4c_transpose_##size(from + r * pitch + c, pitch, &lines[c][r], SIDE); \
    for (int64_t c = 0; c < SIDE; c++)                                          \
      if (stream)                                                               \
        nd4c_stream_block(to + c * to_pitch, lines[c]);                         \
      else                                                                      \
        memcpy(to + c * to_pitch, lines[c], ND4C_STREAM_BLOCK);                 \
  }

#endif

BLOCK(1)
BLOCK(2)
BLOCK(4)
BLOCK(8)
BLOCK(16)

/* Along the rows, so that reading is foreseen by hardware; a line of a column is written at once. */
#define TRANSPOSE(size)                                                                                     \
  static void transpose_##size(int64_t rows, int64_t columns, const void *from, int64_t from_row, void *to, \
                               int64_t to_row, bool stream) {                                               \
    enum { SIDE = ND4C_STREAM_BLOCK / size };                                                               \
    stream = stream && (uintptr_t)to % ND4C_STREAM_BLOCK == 0 && to_row * size % ND4C_STREAM_BLOCK == 0;    \
    for (int64_t r = 0; r < rows; r += SIDE)                                                                \
      for (int64_t c = 0; c < columns; c += SIDE) {                                                         \
        block b = {(const char *)from + (r * from_row + c) * size,                                          \
                   (char *)to + (c * to_row + r) * size,                                                    \
                   from_row * size,                                                                         \
                   to_row * size,                                                                           \
                   rows - r < SIDE ? rows - r : SIDE,                                                       \
                   columns - c < SIDE ? columns - c : SIDE};                                                \
        run_block_##size(&b, stream);                                                                       \
      }                                                                                                     \
  }
TRANSPOSE(1)
TRANSPOSE(2)
TRANSPOSE(4)
TRANSPOSE(8)
TRANSPOSE(16)

/* -- lanes --------------------------------------------------------------------------------------------------------- */

/* Written out for each number of lanes: the compiler then shuffles vectors. */
#define LANES(size)                                                                                               \
  static void interleave_##size(int64_t n, int64_t lanes, const void *const *vfrom, void *vto) {                  \
    const unit_##size *a = vfrom[0], *b = vfrom[1], *c = vfrom[lanes > 2 ? 2 : 0], *d = vfrom[lanes > 3 ? 3 : 0]; \
    unit_##size *restrict to = vto;                                                                               \
    if (lanes == 2) {                                                                                             \
      for (int64_t i = 0; i < n; i++) {                                                                           \
        to[2 * i] = a[i];                                                                                         \
        to[2 * i + 1] = b[i];                                                                                     \
      }                                                                                                           \
    } else if (lanes == 3) {                                                                                      \
      for (int64_t i = 0; i < n; i++) {                                                                           \
        to[3 * i] = a[i];                                                                                         \
        to[3 * i + 1] = b[i];                                                                                     \
        to[3 * i + 2] = c[i];                                                                                     \
      }                                                                                                           \
    } else {                                                                                                      \
      for (int64_t i = 0; i < n; i++) {                                                                           \
        to[4 * i] = a[i];                                                                                         \
        to[4 * i + 1] = b[i];                                                                                     \
        to[4 * i + 2] = c[i];                                                                                     \
        to[4 * i + 3] = d[i];                                                                                     \
      }                                                                                                           \
    }                                                                                                             \
  }                                                                                                               \
  static void deinterleave_##size(int64_t n, int64_t lanes, const void *vfrom, void *vto, int64_t lane) {         \
    const unit_##size *from = vfrom;                                                                              \
    unit_##size *a = vto, *b = a + lane, *c = b + (lanes > 2 ? lane : 0), *d = c + (lanes > 3 ? lane : 0);        \
    if (lanes == 2) {                                                                                             \
      ND4C_INDEPENDENT                                                                                            \
      for (int64_t i = 0; i < n; i++) {                                                                           \
        a[i] = from[2 * i];                                                                                       \
        b[i] = from[2 * i + 1];                                                                                   \
      }                                                                                                           \
    } else if (lanes == 3) {                                                                                      \
      ND4C_INDEPENDENT                                                                                            \
      for (int64_t i = 0; i < n; i++) {                                                                           \
        a[i] = from[3 * i];                                                                                       \
        b[i] = from[3 * i + 1];                                                                                   \
        c[i] = from[3 * i + 2];                                                                                   \
      }                                                                                                           \
    } else {                                                                                                      \
      ND4C_INDEPENDENT                                                                                            \
      for (int64_t i = 0; i < n; i++) {                                                                           \
        a[i] = from[4 * i];                                                                                       \
        b[i] = from[4 * i + 1];                                                                                   \
        c[i] = from[4 * i + 2];                                                                                   \
        d[i] = from[4 * i + 3];                                                                                   \
      }                                                                                                           \
    }                                                                                                             \
  }
LANES(1)
LANES(2)
LANES(4)
LANES(8)
LANES(16)

#define BY_SIZE(name) \
  { [1] = name##_1, [2] = name##_2, [4] = name##_4, [8] = name##_8, [16] = name##_16 }
const nd4c_transpose_table ND4C_LEVEL_NAME(nd4c_transpose_table) = {
    .transpose = BY_SIZE(transpose), .interleave = BY_SIZE(interleave), .deinterleave = BY_SIZE(deinterleave)};
