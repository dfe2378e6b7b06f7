/* Implements bags.h. Compiled once per level. simd/indexing/indexing_bags.c reads the table by nd4c_simd.bags. */
#include "kernels/cpu/indexing/bags.h"

#include <stdbool.h>

#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

extern const nd4c_bags_table ND4C_LEVEL_NAME(nd4c_bags_table);

#define ND4C_TEMPLATE "kernels/cpu/indexing/bags_rows.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

#define LOOPS(dtype) {.add = add_##dtype, .larger = larger_##dtype}

const nd4c_bags_table ND4C_LEVEL_NAME(nd4c_bags_table) = {.float32 = LOOPS(float32), .float64 = LOOPS(float64)};
