/* See nn.h. One source for every level: the compiler vectorises the plain loops. */
#include "kernels/cpu/nn.h"

#include <math.h>

#include "kernels/cpu/level.h"
#include "kernels/cpu/mathematics.h"

extern const nd4c_nn_table ND4C_LEVEL_NAME(nd4c_nn_table);

#define T float
#define SQRT sqrtf
#define EXP nd4c_exp_float32
#define LOG nd4c_log_float32
#define MULTIPLY_ADD ND4C_FMAF
#define NAME(name) name##_float32
#include "kernels/cpu/nn_loops.h"

#define T double
#define SQRT sqrt
#define EXP nd4c_exp_float64
#define LOG nd4c_log_float64
#define MULTIPLY_ADD ND4C_FMA
#define NAME(name) name##_float64
#include "kernels/cpu/nn_loops.h"

const nd4c_nn_table ND4C_LEVEL_NAME(nd4c_nn_table) = {.float32 = &loops_float32, .float64 = &loops_float64};
