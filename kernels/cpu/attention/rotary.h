/* Inner loops of rotary_embedding. simd/attention/attention_rotary.c calls them. */
#ifndef ND4C_KERNELS_CPU_ATTENTION_ROTARY_H
#define ND4C_KERNELS_CPU_ATTENTION_ROTARY_H

#include <stdbool.h>
#include <stdint.h>

/* Rotates pairs of features by the angles of cos and sin: neighbours if interleaved, else one of each half of the
 * 2 * pairs features. Products and sums are doubles, rounded once. y is x, or does not overlap it. All pointers are to
 * elements of the loop's dtype. */
typedef void (*nd4c_rotary_function)(int64_t pairs, bool interleaved, const void *x, const void *cosines,
                                     const void *sines, void *y);

typedef struct nd4c_rotary_table {
  nd4c_rotary_function float32, float64;
} nd4c_rotary_table;

#endif
