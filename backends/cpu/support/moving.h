/* Checks of indices, blocks and plans for the families that move elements (indexing, creation, shape), in engine
 * reference and in engine simd. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_MOVING_H
#define ND4C_BACKENDS_CPU_SUPPORT_MOVING_H

#include <stdio.h>

#include "backends/cpu/reference/reference.h"
#include "kernels/cpu/indexing/blocks.h"
#include "kernels/reference/indexing/arrangement.h"
#include "kernels/reference/indexing/indexing.h"
#include "kernels/reference/indexing/move.h"

/* The failure of an index out of range: number `flat` of the input, in C order. */
nd4c_status nd4c_cpu_index_fail(const nd4c_call *call, int32_t input, int64_t flat, int64_t value, int32_t axis,
                                int64_t extent);
/* Refuses indices that are not in -extent .. extent - 1. */
nd4c_status nd4c_cpu_check_indices(const nd4c_call *call, int32_t input, int32_t axis, int64_t extent);

/* The elements of an operand of any integers in C order: its own, if it lies so in 64 bits, else copied to `room`. */
const int64_t *nd4c_cpu_integers(const nd4c_tensor *x, int64_t *room);

/* The same as nd4c_cpu_check_indices for positions (gather_nd, scatter_nd). */
nd4c_status nd4c_cpu_check_positions(const nd4c_call *call, const nd4c_ref_positions *args);

/* Refuses counts of repeat that are negative or do not add up to the attribute total. */
nd4c_status nd4c_cpu_check_counts(const nd4c_call *call);

/* Refuses a mask of masked_scatter of which more elements are true (count) than value has. */
nd4c_status nd4c_cpu_check_scattered(const nd4c_call *call, int64_t count);

/* Where tensor_scatter writes in a batch, and whether the update fits there in each of them. */
int64_t nd4c_cpu_write_index(const nd4c_call *call, int64_t batch);
nd4c_status nd4c_cpu_check_write_indices(const nd4c_call *call, int32_t axis);

/* Refuses indices of embedding_bag that are no rows of the table, and offsets (NULL: none) that do not grow from 0 to
 * the number of indices. */
nd4c_status nd4c_cpu_check_bags(const nd4c_call *call, const int64_t *indices, const int64_t *offsets);

/* depth_to_space and space_to_depth as a copy between views of more axes. */
typedef struct nd4c_cpu_blocks {
  int32_t rank;
  int64_t shape[ND4C_CPU_MAX_RANK + 2], from[ND4C_CPU_MAX_RANK + 2], to[ND4C_CPU_MAX_RANK + 2];
} nd4c_cpu_blocks;

void nd4c_cpu_blocks_make(const nd4c_call *call, bool to_deep, nd4c_cpu_blocks *blocks);

/* Refuses lengths of reverse_sequence that are not in 0 .. steps. */
nd4c_status nd4c_cpu_check_lengths(const nd4c_call *call, int64_t steps);

/* Diagonal k of the axes a and b of a tensor, as a tensor whose last axis it is; its arrays are in `parts`. */
typedef struct nd4c_cpu_diagonal_parts {
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
} nd4c_cpu_diagonal_parts;

nd4c_tensor nd4c_cpu_diagonal(const nd4c_tensor *x, int32_t a, int32_t b, int64_t k, nd4c_cpu_diagonal_parts *parts);

/* Windows of im2col and col2im. attrs: kernel, strides, pads, dilations; image: the extents that windows slide over. */
nd4c_ref_columns nd4c_cpu_columns(const nd4c_attr_value *attrs, const int64_t *image);

/* Runs a plan; the pool's threads share its slowest axis if there is enough to move. */
void nd4c_cpu_run_plan(const nd4c_call *call, const nd4c_ref_plan *plan, const void *from, void *to);

/* The bytes of every dtype's zero. */
extern const char nd4c_cpu_zero[16];

#endif
