/* See depthwise.h. One source for every level. */
#include "kernels/cpu/window/depthwise.h"

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/window/pool_vector.h"

extern const nd4c_depthwise_table ND4C_LEVEL_NAME(nd4c_depthwise_table);

/* Rows of a tile, whose sums stay in registers. */
enum { ROWS = 8 };

#define VECTORS_OF 32
#include "kernels/cpu/support/vector_names.h"

#include "kernels/cpu/window/depthwise_loops.h"
#undef VECTORS_OF

#define VECTORS_OF 64
#include "kernels/cpu/support/vector_names.h"

#include "kernels/cpu/window/depthwise_loops.h"
#undef VECTORS_OF

const nd4c_depthwise_table ND4C_LEVEL_NAME(nd4c_depthwise_table) = {.float32 = &loops_float32,
                                                                    .float64 = &loops_float64};
