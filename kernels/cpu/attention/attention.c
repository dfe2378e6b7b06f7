/* Implements attention.h for f32 and f64 from loops.h. Compiled once per level. simd/attention.c reads the table by
 * nd4c_simd.attention. */
#include "kernels/cpu/attention/attention.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernels/cpu/attention/pairs.h"
#include "kernels/cpu/contraction/gemm_vector.h"
#include "kernels/cpu/elementwise/eight.h"
#include "kernels/cpu/elementwise/exponential_vector.h"
#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/shape/squares.h"
#include "kernels/cpu/support/level.h"

extern const nd4c_attention_table ND4C_LEVEL_NAME(nd4c_attention_table);

/* Keys of a block, in whole tiles: their scores with two vectors of queries stay in the L1 cache. */
enum { KEYS = 128 / TILE_ROWS * TILE_ROWS };
_Static_assert(TILE_ROWS % 2 == 0, "parts of a block begin with whole pairs of keys");

#define ND4C_TEMPLATE "kernels/cpu/attention/loops.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

const nd4c_attention_table ND4C_LEVEL_NAME(nd4c_attention_table) = {
    .float32 = &loops_float32, .float64 = &loops_float64, .has_pairs = HAS_PAIRS};
