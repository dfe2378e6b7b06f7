/* CONSTANT weights that a kernel packs once into a form of its own: the form's layout, and the check that it was
 * packed. The convolutions of simd/window and simd/contraction/contraction_packed.c call this. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_PACKED_WEIGHTS_H
#define ND4C_BACKENDS_CPU_SUPPORT_PACKED_WEIGHTS_H

#include "backends/cpu/cpu.h"

/* The layout of `bytes` bytes that engine simd makes of w. form: eight characters that tell this form from others; with
 * another `variant`, such as the width of panels, it is another layout. */
void nd4c_cpu_packed_describe(const nd4c_tensor *w, const char form[8], int64_t variant, nd4c_dtype dtype,
                              int64_t bytes, nd4c_layout *layout);

/* Packs w [outputs, channels, height, width] of float32 for a kernel that reads zeros for the cells beside x: for each
 * panel of `panel` outputs the terms of a window, and for each term the panel's weights; outputs that are missing weigh
 * 0. channels_inside: the channels of a cell lie together, else the cells of a channel. UNSUPPORTED: a weight is
 * infinite or NaN. */
nd4c_status nd4c_cpu_packed_panels(const nd4c_tensor *w, int64_t panel, bool channels_inside, float *to);

/* A kernel's prepare: UNSUPPORTED if input `input` was not packed, since there is no memory for that. Makes no state.
 */
nd4c_status nd4c_cpu_packed_prepare(const nd4c_call *call, int32_t input, void **state);

#endif
