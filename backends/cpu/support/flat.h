/* Operands as one run of elements in C order, whatever their strides, for losses, steps of optimisers, normalisations
 * by numbers of groups and comparisons of neighbours of engine simd. */
#ifndef ND4C_BACKENDS_CPU_SIMD_LOSS_LOSS_FLAT_H
#define ND4C_BACKENDS_CPU_SIMD_LOSS_LOSS_FLAT_H

#include "backends/cpu/simd/simd.h"

/* Elements of a piece: those of seven operands stay in the first caches. */
enum { ND4C_FLAT_PIECE = 1024, ND4C_FLAT_BYTES = 8 * ND4C_FLAT_PIECE };

typedef struct nd4c_simd_flat {
  int32_t rank, bytes; /* of an element */
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
  char *data;
  bool dense;
} nd4c_simd_flat;

/* `tensor`, repeated over the shape of `as`; the strides are merged where they can be. */
void nd4c_simd_flat_make(nd4c_simd_flat *flat, const nd4c_tensor *tensor, const nd4c_tensor *as);
/* n <= ND4C_FLAT_PIECE elements from element `from` on: in place, or in the buffer. */
const char *nd4c_simd_flat_read(const nd4c_simd_flat *flat, int64_t from, int64_t n, char *buffer);
/* Where n elements from `from` on may be computed: in place, or, with gaps or if they are streamed, in the buffer. */
char *nd4c_simd_flat_place(const nd4c_simd_flat *flat, int64_t from, bool stream, char *buffer);
/* Brings them from there to their place; streams end with a stream_fence. */
void nd4c_simd_flat_write(const nd4c_simd_flat *flat, int64_t from, int64_t n, bool stream, const char *made);

#endif
