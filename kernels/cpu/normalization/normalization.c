/* Implements normalization.h for f32 and f64 from loops.h. Compiled once per level: the compiler vectorises the plain
 * loops. simd/rows.h reads the table. */
#include "kernels/cpu/normalization/normalization.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernels/cpu/elementwise/eight.h"
#include "kernels/cpu/elementwise/exponential_vector.h"
#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/reduction/vector.h"
#include "kernels/cpu/shape/squares.h"
#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

extern const nd4c_normalization_table ND4C_LEVEL_NAME(nd4c_normalization_table);

#if defined(__AVX512F__)
#define exp_of_float32 nd4c_exp_sixteen
#define exp_of_float64 nd4c_exp_eight
#define ND4C_TEMPLATE "kernels/cpu/normalization/exponentials.h"
#include "kernels/cpu/support/each_register.h"
#define EXP_LINES
#endif

#define ND4C_TEMPLATE "kernels/cpu/normalization/loops.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

const nd4c_normalization_table ND4C_LEVEL_NAME(nd4c_normalization_table) = {.float32 = &loops_float32,
                                                                            .float64 = &loops_float64};
