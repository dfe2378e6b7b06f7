/* Kernels of engine simd that compute 16-bit floats by its kernels of float32, and transforms of them and of whole
 * numbers by those of float64 (support/widened.h). dispatch/choice.c asks those of SOONER before oneDNN's, where the
 * kernel of float32 comes before oneDNN's, too, and the others last. */
#include "backends/cpu/support/widened.h"

#include "backends/cpu/simd/simd.h"

#define FAMILY(name) extern const nd4c_kernel *const nd4c_cpu_simd_##name##_kernels[];
#define FAMILIES(X)       \
  X(contraction)          \
  X(contraction_packed)   \
  X(image_colors)         \
  X(image_regions)        \
  X(image_resize)         \
  X(image_sample)         \
  X(normalization)        \
  X(normalization_groups) \
  X(recurrent)            \
  X(signal_fft)           \
  X(window_conv)          \
  X(window_deformable)    \
  X(window_depthwise)     \
  X(window_pool)          \
  X(window_winograd)
FAMILIES(FAMILY)
#define ENTRY(name) nd4c_cpu_simd_##name##_kernels,
static const nd4c_kernel *const *const families[] = {FAMILIES(ENTRY) NULL};

enum { SOONER = ND4C_CPU_PRIORITY_ONEDNN + 2, LATER = 99 };
static const nd4c_widened_source sooner = {.families = families, .least = ND4C_CPU_PRIORITY_ONEDNN + 1},
                                 later = {.families = families, .least = 1},
                                 doubles = {.families = families, .least = 1, .doubles = true};

/* oneDNN is faster where the processor has instructions for bfloat16. */
static bool sooner_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype == ND4C_BFLOAT16 && !nd4c_simd_widens_bfloat16,
                      "there may be instructions for bfloat16: oneDNN");
  return nd4c_widened_usable(call, reason, reason_size);
}

#define HALVES (ND4C_DTYPE_BIT(ND4C_FLOAT16) | ND4C_DTYPE_BIT(ND4C_BFLOAT16))
#define SOONER_KERNEL(op) \
  ND4C_WIDENED_KERNEL_WITH("simd", op, "widened_own_" #op, SOONER, HALVES, sooner, sooner_usable)
#define LATER_KERNEL(op) ND4C_WIDENED_KERNEL("simd", op, "widened_" #op, LATER, HALVES, later)

/* Doubles hold whole numbers of up to 32 bits exactly. */
#define WHOLE_KERNEL(op) ND4C_WIDENED_KERNEL("simd", op, "doubled_" #op, LATER, ND4C_CPU_INTS & ~WHOLE_64, doubles)
#define WHOLE_64 (ND4C_DTYPE_BIT(ND4C_INT64) | ND4C_DTYPE_BIT(ND4C_UINT64))

/* Transforms are as exact as those of doubles, except of float32. */
#define DOUBLE_KERNEL(op)                                \
  ND4C_WIDENED_KERNEL("simd", op, "doubled_" #op, LATER, \
                      ND4C_CPU_INTS | ND4C_DTYPE_BIT(ND4C_FLOAT16) | ND4C_DTYPE_BIT(ND4C_BFLOAT16), doubles)

const nd4c_kernel *const nd4c_cpu_simd_widened_kernels[] = {SOONER_KERNEL(matmul),
                                                            SOONER_KERNEL(linear),
                                                            SOONER_KERNEL(conv),
                                                            LATER_KERNEL(matmul),
                                                            LATER_KERNEL(linear),
                                                            LATER_KERNEL(vecdot),
                                                            LATER_KERNEL(matvec),
                                                            LATER_KERNEL(vecmat),
                                                            LATER_KERNEL(conv),
                                                            LATER_KERNEL(rnn),
                                                            LATER_KERNEL(lstm),
                                                            LATER_KERNEL(gru),
                                                            LATER_KERNEL(batch_norm),
                                                            LATER_KERNEL(group_norm),
                                                            LATER_KERNEL(instance_norm),
                                                            LATER_KERNEL(lrn),
                                                            LATER_KERNEL(resize),
                                                            LATER_KERNEL(grid_sample),
                                                            LATER_KERNEL(roi_align),
                                                            LATER_KERNEL(max_pool),
                                                            LATER_KERNEL(average_pool),
                                                            LATER_KERNEL(rgb_to_hsv),
                                                            LATER_KERNEL(hsv_to_rgb),
                                                            LATER_KERNEL(rgb_to_yiq),
                                                            LATER_KERNEL(yiq_to_rgb),
                                                            LATER_KERNEL(rgb_to_yuv),
                                                            LATER_KERNEL(yuv_to_rgb),
                                                            LATER_KERNEL(rgb_to_grayscale),
                                                            LATER_KERNEL(adjust_hue),
                                                            LATER_KERNEL(adjust_saturation),
                                                            DOUBLE_KERNEL(fft),
                                                            DOUBLE_KERNEL(ifft),
                                                            DOUBLE_KERNEL(fftn),
                                                            DOUBLE_KERNEL(ifftn),
                                                            DOUBLE_KERNEL(rfft),
                                                            DOUBLE_KERNEL(irfft),
                                                            DOUBLE_KERNEL(rfftn),
                                                            DOUBLE_KERNEL(irfftn),
                                                            DOUBLE_KERNEL(hfft),
                                                            DOUBLE_KERNEL(ihfft),
                                                            WHOLE_KERNEL(max_pool),
                                                            LATER_KERNEL(deformable_conv),
                                                            NULL};
