/* Implements gemm.h for floats: the tables of products, from gemm_loops.h, gemm_weights.h and gemm_thin.h. Compiled
 * once per level. simd/contraction/contraction.c reads the tables by nd4c_simd.gemm. */
#include "kernels/cpu/contraction/gemm.h"

#include <stddef.h>
#include <string.h>

#include "kernels/cpu/contraction/gemm_vector.h"
#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

extern const nd4c_gemm_table ND4C_LEVEL_NAME(nd4c_gemm_table);

#define ND4C_TEMPLATE "kernels/cpu/contraction/gemm_loops.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

#define ND4C_TEMPLATE "kernels/cpu/contraction/gemm_weights.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

/* The few rows of f32 with b of bfloat16. */
#define T float
#define NAME(name) name##_float32
#define B uint16_t
#define OF_B(name) name##_bfloat16
#include "kernels/cpu/contraction/gemm_thin.h"

/* The same with b of float16. */
#undef OF_B
#define B uint16_t
#define OF_B(name) name##_float16
#include "kernels/cpu/contraction/gemm_thin.h"

const nd4c_gemm_table ND4C_LEVEL_NAME(nd4c_gemm_table) = {.float32 = &loops_float32,
                                                          .float64 = &loops_float64,
                                                          .thin_float32 = &thin_float32,
                                                          .thin_float64 = &thin_float64,
                                                          .thin_bfloat16 = &thin_bfloat16,
                                                          .thin_float16 = &thin_float16};
