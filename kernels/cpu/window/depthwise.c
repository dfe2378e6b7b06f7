/* Implements depthwise.h for f32 and f64 from depthwise_loops.h. Compiled once per level.
 * simd/window/window_depthwise.c reads the table by nd4c_simd.depthwise. */
#include "kernels/cpu/window/depthwise.h"

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/window/pool_vector.h"

extern const nd4c_depthwise_table ND4C_LEVEL_NAME(nd4c_depthwise_table);

/* Rows of a tile, whose sums stay in registers. */
enum { ROWS = 8 };

#define ND4C_TEMPLATE "kernels/cpu/window/depthwise_loops.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

const nd4c_depthwise_table ND4C_LEVEL_NAME(nd4c_depthwise_table) = {.float32 = &loops_float32,
                                                                    .float64 = &loops_float64};
