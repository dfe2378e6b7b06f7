/* See move.h. */
#include "kernels/cpu/shape/move.h"

#include <string.h>

#include "kernels/cpu/indexing/blocks.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/shape/squares.h"
#include "kernels/cpu/support/vector.h"

extern const nd4c_move_table ND4C_LEVEL_NAME(nd4c_move_table);

/* Bytes of a vector at the places that another one names. */
#if !defined(__clang__)
#define SHUFFLE_BYTES(line, places) __builtin_shuffle(line, places)
#elif defined(__SSSE3__)
#define SHUFFLE_BYTES(line, places) ((nd4c_bytes_16)_mm_shuffle_epi8((__m128i)(line), (__m128i)(places)))
#elif defined(__aarch64__)
#include <arm_neon.h>
#define SHUFFLE_BYTES(line, places) ((nd4c_bytes_16)vqtbl1q_u8((uint8x16_t)(line), (uint8x16_t)(places)))
#endif

/* Several elements may be moved as one: it lies where one of them may. */
typedef uint8_t unit_1;
typedef uint16_t unit_2 __attribute__((aligned(1), may_alias));
typedef uint32_t unit_4 __attribute__((aligned(1), may_alias));
typedef uint64_t unit_8 __attribute__((aligned(1), may_alias));
typedef nd4c_bytes_16 unit_16;

static inline void nd4c_transpose_16(const unit_16 *from, int64_t from_column, unit_16 *to, int64_t to_row) {
  (void)from_column;
  (void)to_row;
  *to = *from;
}

#if defined(__AVX512F__)

/* Elements 3 to 7 apart: those of a vector are squeezed together, and what is stored too much is overwritten by the
 * next ones. Returns how many of n are done. */
#define SQUEEZE(size, lanes, mask, COMPRESS)                                                                \
  static inline int64_t squeeze_##size(int64_t n, const unit_##size *from, int64_t step, unit_##size *to) { \
    const int64_t some = step > 2 && step < 8 ? ((lanes)-1) / step + 1 : 0;                                 \
    mask wanted = 0;                                                                                        \
    int64_t i = 0;                                                                                          \
    for (int64_t k = 0; k < some; k++)                                                                      \
      wanted = (mask)(wanted | 1 << k * step);                                                              \
    for (; some > 0 && i + (lanes) <= n; i += some)                                                         \
      _mm512_storeu_si512(to + i, COMPRESS(wanted, _mm512_loadu_si512(from + i * step)));                   \
    return i;                                                                                               \
  }
SQUEEZE(4, 16, __mmask16, _mm512_maskz_compress_epi32)
SQUEEZE(8, 8, __mmask8, _mm512_maskz_compress_epi64)
#define SQUEEZED(size) squeeze_##size(n, from, step, to)
#else
#define SQUEEZED(size) 0
#endif

/* Constant small steps get loops of their own: the compiler then shuffles instead of gathering. */
#define MOVE_ROW(size, SQUEEZED_FIRST)                                                                    \
  static inline void move_row_##size(int64_t n, const unit_##size *from, int64_t step, unit_##size *to) { \
    if (step == 1) {                                                                                      \
      memmove(to, from, (size_t)n * sizeof *to);                                                          \
    } else if (step == 0) {                                                                               \
      unit_##size x = *from;                                                                              \
      for (int64_t i = 0; i < n; i++)                                                                     \
        to[i] = x;                                                                                        \
    } else if (step == 2) {                                                                               \
      ND4C_INDEPENDENT                                                                                    \
      for (int64_t i = 0; i < n; i++)                                                                     \
        to[i] = from[2 * i];                                                                              \
    } else if (step == -1) {                                                                              \
      ND4C_INDEPENDENT                                                                                    \
      for (int64_t i = 0; i < n; i++)                                                                     \
        to[i] = from[-i];                                                                                 \
    } else {                                                                                              \
      for (int64_t i = SQUEEZED_FIRST; i < n; i++)                                                        \
        to[i] = from[i * step];                                                                           \
    }                                                                                                     \
  }

/* A row `rows` times, one after the other: copies what is already written, twice as much each time. */
static void repeat_row(int64_t rows, int64_t bytes, char *row) {
  int64_t all = rows * bytes;
  for (int64_t done = bytes, more; done < all; done += more) {
    more = done < all - done ? done : all - done;
    memcpy(row + done, row, (size_t)more);
  }
}

/* Each element of a column `columns` times. Numbers of 2 to 4 are written out: the compiler then shuffles. Else whole
 * vectors are written, whose ends the next element's overwrite. */
#define SPREAD_BY(count)                \
  for (int64_t r = 0; r < rows; r++)    \
    for (int64_t k = 0; k < count; k++) \
  to[count * r + k] = from[r * from_row]
#define SPREAD(size)                                                                                           \
  typedef unit_##size line_##size __attribute__((vector_size(ND4C_STREAM_BLOCK), aligned(1), may_alias));      \
  static int64_t spread_lines_##size(int64_t rows, int64_t columns, const unit_##size *from, int64_t from_row, \
                                     unit_##size *to) {                                                        \
    enum { LINE = ND4C_STREAM_BLOCK / size };                                                                  \
    int64_t r = 0, past = (columns + LINE - 1) / LINE * LINE - columns;                                        \
    for (; (rows - r - 1) * columns >= past && r < rows; r++, to += columns) {                                 \
      const line_##size line = (line_##size){0} + from[r * from_row];                                          \
      for (int64_t c = 0; c < columns; c += LINE)                                                              \
        *(line_##size *)(to + c) = line;                                                                       \
    }                                                                                                          \
    return r;                                                                                                  \
  }
SPREAD(1)
SPREAD(2)
SPREAD(4)
SPREAD(8)

static int64_t spread_lines_16(int64_t rows, int64_t columns, const unit_16 *from, int64_t from_row, unit_16 *to) {
  (void)rows;
  (void)columns;
  (void)from;
  (void)from_row;
  (void)to;
  return 0;
}

/* Transposing takes as many rows at a time as a cache line of a column has, square by square. Hardware does not foresee
 * the next block of columns: it is asked for meanwhile. */
#define MOVE(size, SQUEEZED_FIRST)                                                                                 \
  MOVE_ROW(size, SQUEEZED_FIRST)                                                                                   \
  static void move_columns_##size(int64_t rows, int64_t columns, const unit_##size *from, int64_t from_column,     \
                                  unit_##size *to, int64_t to_row) {                                               \
    for (int64_t c = 0; c < columns; c++)                                                                          \
      for (int64_t r = 0; r < rows; r++)                                                                           \
        to[r * to_row + c] = from[c * from_column + r];                                                            \
  }                                                                                                                \
  static void move_transposed_##size(int64_t rows, int64_t columns, const unit_##size *from, int64_t from_column,  \
                                     unit_##size *to, int64_t to_row) {                                            \
    enum { LINE = ND4C_STREAM_BLOCK / size, SIDE = ND4C_SQUARE_##size };                                           \
    int64_t r = 0, squares = columns / SIDE * SIDE;                                                                \
    for (; r + LINE <= rows; r += LINE) {                                                                          \
      for (int64_t c = 0; c < squares; c += SIDE) {                                                                \
        for (int64_t i = 0; i < SIDE; i++)                                                                         \
          ND4C_PREFETCH((uintptr_t)from + (uintptr_t)((c + i + columns) * from_column + r) * size);                \
        for (int64_t i = 0; i < LINE; i += SIDE)                                                                   \
          nd4c_transpose_##size(from + c * from_column + r + i, from_column, to + (r + i) * to_row + c, to_row);   \
      }                                                                                                            \
      move_columns_##size(LINE, columns - squares, from + squares * from_column + r, from_column,                  \
                          to + r * to_row + squares, to_row);                                                      \
    }                                                                                                              \
    move_columns_##size(rows - r, columns, from + r, from_column, to + r * to_row, to_row);                        \
  }                                                                                                                \
  static void spread_##size(int64_t rows, int64_t columns, const unit_##size *from, int64_t from_row,              \
                            unit_##size *restrict to) {                                                            \
    if (columns == 2) {                                                                                            \
      SPREAD_BY(2);                                                                                                \
    } else if (columns == 3) {                                                                                     \
      SPREAD_BY(3);                                                                                                \
    } else if (columns == 4) {                                                                                     \
      SPREAD_BY(4);                                                                                                \
    } else {                                                                                                       \
      for (int64_t r = spread_lines_##size(rows, columns, from, from_row, to); r < rows; r++)                      \
        move_row_##size(columns, from + r * from_row, 0, to + r * columns);                                        \
    }                                                                                                              \
  }                                                                                                                \
  static void move_##size(int64_t rows, int64_t columns, const void *vfrom, int64_t from_row, int64_t from_column, \
                          void *vto, int64_t to_row, int64_t to_column) {                                          \
    const unit_##size *from = vfrom;                                                                               \
    unit_##size *to = vto;                                                                                         \
    if (to_column == 1 && to_row == columns && from_row == 0 && rows > 1) {                                        \
      move_row_##size(columns, from, from_column, to);                                                             \
      repeat_row(rows, columns *size, vto);                                                                        \
      return;                                                                                                      \
    }                                                                                                              \
    if (to_column == 1 && to_row == columns && from_column == 0) {                                                 \
      spread_##size(rows, columns, from, from_row, to);                                                            \
      return;                                                                                                      \
    }                                                                                                              \
    if (to_column == 1 && from_row == 1 && from_column != 1 && from_column != 0) {                                 \
      move_transposed_##size(rows, columns, from, from_column, to, to_row);                                        \
      return;                                                                                                      \
    }                                                                                                              \
    for (int64_t r = 0; r < rows; r++, from += from_row, to += to_row) {                                           \
      if (to_column == 1)                                                                                          \
        move_row_##size(columns, from, from_column, to);                                                           \
      else                                                                                                         \
        for (int64_t c = 0; c < columns; c++)                                                                      \
          to[c * to_column] = from[c * from_column];                                                               \
    }                                                                                                              \
  }
MOVE(1, 0)
MOVE(2, 0)
MOVE(4, SQUEEZED(4))
MOVE(8, SQUEEZED(8))
MOVE(16, 0)

/* Blocks one after the other, from the last to the first: as many as fit 16 bytes are turned by one shuffle. Returns
 * how many of `count` are done. */
static int64_t turn_blocks(int64_t count, int64_t bytes, const char *from, char *to) {
  const int64_t some = 16 / bytes, skipped = 16 - some * bytes;
  nd4c_bytes_16 places = {0};
  int64_t i = 0;
  for (int64_t k = 0; k < some * bytes; k++)
    places[k] = (uint8_t)(skipped + (some - 1 - k / bytes) * bytes + k % bytes);
  for (; (count - i) * bytes >= 16; i += some) {
    nd4c_bytes_16 line = *(const nd4c_bytes_16 *)(const void *)(from + (1 - i) * bytes - 16);
    *(nd4c_bytes_16 *)(void *)(to + i * bytes) = SHUFFLE_BYTES(line, places);
  }
  return i;
}

/* The sizes of one element and two have loops of their own, which need not ask for the size at every block. */
#define BLOCKS_OF(type)  \
  for (; i < count; i++) \
  *(type *)(void *)(to + i * to_pitch) = *(const type *)(const void *)(from + i * from_pitch)
static void blocks(int64_t count, int64_t bytes, const void *vfrom, int64_t from_pitch, void *vto, int64_t to_pitch) {
  const char *from = vfrom;
  char *to = vto;
  int64_t i = bytes <= 8 && from_pitch == -bytes && to_pitch == bytes ? turn_blocks(count, bytes, from, to) : 0;
  if (bytes == 4)
    BLOCKS_OF(nd4c_bytes_4);
  else if (bytes == 8)
    BLOCKS_OF(nd4c_bytes_8);
  for (; i < count; i++)
    nd4c_copy_block(to + i * to_pitch, from + i * from_pitch, bytes);
}

static void stream(int64_t bytes, const void *from, void *to) {
  const char *source = from;
  char *target = to;
  int64_t head = (int64_t)(-(uintptr_t)target % ND4C_STREAM_BLOCK);
  head = head < bytes ? head : bytes;
  memcpy(target, source, (size_t)head);
  int64_t i = head;
  for (; i + ND4C_STREAM_BLOCK <= bytes; i += ND4C_STREAM_BLOCK)
    nd4c_stream_block(target + i, source + i);
  memcpy(target + i, source + i, (size_t)(bytes - i));
}

static void stream_fence(void) {
  nd4c_stream_end();
}

const nd4c_move_table ND4C_LEVEL_NAME(nd4c_move_table) = {
    .move = {[1] = move_1, [2] = move_2, [4] = move_4, [8] = move_8, [16] = move_16},
    .blocks = blocks,
    .stream = stream,
    .stream_fence = stream_fence,
};
