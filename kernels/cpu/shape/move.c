/* Implements move.h: the table of the level, from move_unit.h. Compiled once per level. Engine simd and support/copy.c
 * read it by nd4c_simd.move. */
#include "kernels/cpu/shape/move.h"

#include <string.h>

#include "kernels/cpu/indexing/blocks.h"
#include "kernels/cpu/shape/squares.h"
#include "kernels/cpu/support/level.h"
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

/* A row `rows` times, one behind the other: the rows written so far are copied, twice as many each time. */
static void repeat_row(int64_t rows, int64_t bytes, char *row) {
  int64_t all = rows * bytes;
  for (int64_t done = bytes, more; done < all; done += more) {
    more = done < all - done ? done : all - done;
    memcpy(row + done, row, (size_t)more);
  }
}

#define ND4C_TEMPLATE "kernels/cpu/shape/move_unit.h"
#include "kernels/cpu/support/each_unit.h"

/* Blocks one after the other, from the last to the first: as many as fit 16 bytes are turned by one shuffle. Returns
 * how many of `count` are done. */
static int64_t turn_blocks(int64_t count, int64_t bytes, const char *from, char *to) {
  const int64_t some = 16 / bytes, skipped = 16 - some * bytes;
  nd4c_bytes_16 places = {0};
  int64_t i = 0;
  for (int64_t k = 0; k < some * bytes; k++) {
    places[k] = (uint8_t)(skipped + (some - 1 - k / bytes) * bytes + k % bytes);
  }
  for (; (count - i) * bytes >= 16; i += some) {
    nd4c_bytes_16 line = *(const nd4c_bytes_16 *)(const void *)(from + (1 - i) * bytes - 16);
    *(nd4c_bytes_16 *)(void *)(to + i * bytes) = SHUFFLE_BYTES(line, places);
  }
  return i;
}

static void blocks(int64_t count, int64_t bytes, const void *vfrom, int64_t from_pitch, void *vto, int64_t to_pitch) {
  const char *from = vfrom;
  char *to = vto;
  int64_t i = bytes <= 8 && from_pitch == -bytes && to_pitch == bytes ? turn_blocks(count, bytes, from, to) : 0;
  /* The sizes of one element and two have loops of their own, which need not ask for the size at every block. */
  for (; bytes == 4 && i < count; i++) {
    memcpy(to + i * to_pitch, from + i * from_pitch, 4);
  }
  for (; bytes == 8 && i < count; i++) {
    memcpy(to + i * to_pitch, from + i * from_pitch, 8);
  }
  for (; i < count; i++) {
    nd4c_copy_block(to + i * to_pitch, from + i * from_pitch, bytes);
  }
}

static void stream(int64_t bytes, const void *from, void *to) {
  const char *source = from;
  char *target = to;
  int64_t head = (int64_t)(-(uintptr_t)target % ND4C_STREAM_BLOCK);
  head = head < bytes ? head : bytes;
  memcpy(target, source, (size_t)head);
  int64_t i = head;
  for (; i + ND4C_STREAM_BLOCK <= bytes; i += ND4C_STREAM_BLOCK) {
    nd4c_stream_block(target + i, source + i);
  }
  memcpy(target + i, source + i, (size_t)(bytes - i));
}

static void stream_fence(void) {
  nd4c_stream_end();
}

const nd4c_move_table ND4C_LEVEL_NAME(nd4c_move_table) = {
    .move = ND4C_BY_SIZE(move),
    .blocks = blocks,
    .stream = stream,
    .stream_fence = stream_fence,
};
