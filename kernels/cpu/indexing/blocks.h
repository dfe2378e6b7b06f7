/* Copies of blocks of a few bytes to a few vectors, without a call. pick.c, shape/move.c and support/moving.h of the
 * cpu backend include it, the last for simd/indexing.c, indexing_arrangement.c and shape.c. */
#ifndef ND4C_KERNELS_CPU_INDEXING_BLOCKS_H
#define ND4C_KERNELS_CPU_INDEXING_BLOCKS_H

#include <stdint.h>
#include <string.h>

typedef uint16_t nd4c_bytes_2 __attribute__((aligned(1), may_alias));
typedef uint32_t nd4c_bytes_4 __attribute__((aligned(1), may_alias));
typedef uint64_t nd4c_bytes_8 __attribute__((aligned(1), may_alias));
typedef uint8_t nd4c_bytes_16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint8_t nd4c_bytes_32 __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint8_t nd4c_bytes_64 __attribute__((vector_size(64), aligned(1), may_alias));

enum { ND4C_BLOCK_MOST = 1024 }; /* bytes; longer ones are left to memcpy */

/* The first and the last bytes as two of `type`, which may overlap. */
#define ND4C_BLOCK_ENDS(type)                                                          \
  do {                                                                                 \
    const type first = *(const type *)(const void *)from;                              \
    const type last = *(const type *)(const void *)(from + bytes - (int)sizeof first); \
    *(type *)(void *)to = first;                                                       \
    *(type *)(void *)(to + bytes - (int)sizeof first) = last;                          \
  } while (0)

/* As memcpy. */
static inline void nd4c_copy_block(char *to, const char *from, int64_t bytes) {
  if (bytes > ND4C_BLOCK_MOST) {
    memcpy(to, from, (size_t)bytes);
  } else if (bytes >= 64) {
    for (int64_t i = 0; i + 64 <= bytes; i += 64) {
      *(nd4c_bytes_64 *)(void *)(to + i) = *(const nd4c_bytes_64 *)(const void *)(from + i);
    }
    *(nd4c_bytes_64 *)(void *)(to + bytes - 64) = *(const nd4c_bytes_64 *)(const void *)(from + bytes - 64);
  } else if (bytes >= 32) {
    ND4C_BLOCK_ENDS(nd4c_bytes_32);
  } else if (bytes >= 16) {
    ND4C_BLOCK_ENDS(nd4c_bytes_16);
  } else if (bytes >= 8) {
    ND4C_BLOCK_ENDS(nd4c_bytes_8);
  } else if (bytes >= 4) {
    ND4C_BLOCK_ENDS(nd4c_bytes_4);
  } else if (bytes >= 2) {
    ND4C_BLOCK_ENDS(nd4c_bytes_2);
  } else if (bytes == 1) {
    *to = *from;
  }
}

#endif
