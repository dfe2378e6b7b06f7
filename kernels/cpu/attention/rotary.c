/* Implements rotary.h. Compiled once per level. simd/attention/attention_rotary.c reads the table by nd4c_simd.rotary.
 */
#include "kernels/cpu/attention/rotary.h"

#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

extern const nd4c_rotary_table ND4C_LEVEL_NAME(nd4c_rotary_table);

#define ND4C_TEMPLATE "kernels/cpu/attention/rotary_pairs.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

const nd4c_rotary_table ND4C_LEVEL_NAME(nd4c_rotary_table) = {.float32 = rotate_float32, .float64 = rotate_float64};
