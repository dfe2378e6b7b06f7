/* See gemm.h. One source for every level. */
#include "kernels/cpu/contraction/gemm.h"

#include <stddef.h>
#include <string.h>

#include "kernels/cpu/contraction/gemm_vector.h"
#include "kernels/cpu/support/level.h"

extern const nd4c_gemm_table ND4C_LEVEL_NAME(nd4c_gemm_table);

#define T float
#define V V32
#define LOAD LOAD32
#define STORE STORE32
#define REPEAT REPEAT32
#define FUSED FUSED32
#define SUM SUM32
#define PART_LOAD PART_LOAD32
#define PART_STORE PART_STORE32
#define NAME(name) name##_float32
#include "kernels/cpu/contraction/gemm_loops.h"
#define B float
#define LOAD_B LOAD32
#define PART_LOAD_B PART_LOAD32
#include "kernels/cpu/contraction/gemm_thin.h"
#undef NAME
#define NAME(name) name##_bfloat16
#define B uint16_t
#define LOAD_B LOAD16
#define PART_LOAD_B PART_LOAD16
#include "kernels/cpu/contraction/gemm_thin.h"
#undef NAME
#undef T
#undef V
#undef LOAD
#undef STORE
#undef REPEAT
#undef FUSED
#undef SUM
#undef PART_LOAD
#undef PART_STORE

#define T double
#define V V64
#define LOAD LOAD64
#define STORE STORE64
#define REPEAT REPEAT64
#define FUSED FUSED64
#define SUM SUM64
#define PART_LOAD PART_LOAD64
#define PART_STORE PART_STORE64
#define NAME(name) name##_float64
#include "kernels/cpu/contraction/gemm_loops.h"
#define B double
#define LOAD_B LOAD64
#define PART_LOAD_B PART_LOAD64
#include "kernels/cpu/contraction/gemm_thin.h"
#undef NAME
#undef T
#undef V
#undef LOAD
#undef STORE
#undef REPEAT
#undef FUSED
#undef SUM
#undef PART_LOAD
#undef PART_STORE

const nd4c_gemm_table ND4C_LEVEL_NAME(nd4c_gemm_table) = {.float32 = &loops_float32,
                                                          .float64 = &loops_float64,
                                                          .thin_float32 = &thin_float32,
                                                          .thin_float64 = &thin_float64,
                                                          .thin_bfloat16 = &thin_bfloat16};
