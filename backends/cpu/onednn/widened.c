/* Kernels of engine onednn that compute 16-bit floats by its kernels of float32 (support/widened.h): float16, and
 * bfloat16 on processors without instructions for it. dispatch/choice.c asks them after the engine's own. */
#include "backends/cpu/support/widened.h"

#include "backends/cpu/onednn/onednn.h"

static const nd4c_kernel *const *const families[] = {nd4c_cpu_onednn_contraction_kernels,
                                                     nd4c_cpu_onednn_contraction_sgemm_kernels,
                                                     nd4c_cpu_onednn_window_conv_kernels, NULL};
static const nd4c_widened_source source = {.families = families, .least = 1};

#define KERNEL(op)                                                                \
  ND4C_WIDENED_KERNEL("onednn", op, "widened_" #op, ND4C_CPU_PRIORITY_ONEDNN - 1, \
                      ND4C_DTYPE_BIT(ND4C_FLOAT16) | ND4C_DTYPE_BIT(ND4C_BFLOAT16), source)

const nd4c_kernel *const nd4c_cpu_onednn_widened_kernels[] = {KERNEL(matmul), KERNEL(linear), KERNEL(conv),
                                                              KERNEL(conv_transpose), NULL};
