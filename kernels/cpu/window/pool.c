/* Implements pool.h for f32 and f64 from pool_loops.h, for 16-bit floats from pool_half.h. Compiled once per level.
 * simd/window/window_pool.c reads the table by nd4c_simd.pool. */
#include "kernels/cpu/window/pool.h"

#include <stdbool.h>
#include <stddef.h>

#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/window/pool_pair.h"
#include "kernels/cpu/window/pool_rank.h"
#include "kernels/cpu/window/pool_vector.h"

extern const nd4c_pool_table ND4C_LEVEL_NAME(nd4c_pool_table);

/* Bytes that rows are asked for ahead: two short rows at once are not foreseen by the hardware. */
enum { AHEAD = 1024 };

/* Vectors of channels, and of 16-bit floats, that stay in registers while a loop passes over the cells of a window. */
enum { CELL_VECTORS = 4, HALF_VECTORS = 2 };

#define ND4C_TEMPLATE "kernels/cpu/window/pool_loops.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/window/pool_half.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"

const nd4c_pool_table ND4C_LEVEL_NAME(nd4c_pool_table) = {
    .float32 = &loops_float32,
    .float64 = &loops_float64,
#ifndef ND4C_DTYPES_LITE
    .float16 = &loops_float16,
    .bfloat16 = &loops_bfloat16,
#endif
};
