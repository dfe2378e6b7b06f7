/* See gemm.h. One source for every level. */
#include "kernels/cpu/gemm.h"

#include <stddef.h>

#include "kernels/cpu/gemm_vector.h"
#include "kernels/cpu/level.h"

extern const nd4c_gemm_table ND4C_LEVEL_NAME(nd4c_gemm_table);

#define T float
#define V V32
#define LOAD LOAD32
#define STORE STORE32
#define REPEAT REPEAT32
#define FUSED FUSED32
#define PART_LOAD PART_LOAD32
#define PART_STORE PART_STORE32
#define NAME(name) name##_float32
#include "kernels/cpu/gemm_loops.h"

#define T double
#define V V64
#define LOAD LOAD64
#define STORE STORE64
#define REPEAT REPEAT64
#define FUSED FUSED64
#define PART_LOAD PART_LOAD64
#define PART_STORE PART_STORE64
#define NAME(name) name##_float64
#include "kernels/cpu/gemm_loops.h"

const nd4c_gemm_table ND4C_LEVEL_NAME(nd4c_gemm_table) = {.float32 = &loops_float32, .float64 = &loops_float64};
