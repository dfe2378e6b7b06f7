/* The tables of a resize: which elements each place of an axis weighs. Engines reference and simd compute with them. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_RESIZE_H
#define ND4C_BACKENDS_CPU_SUPPORT_RESIZE_H

#include "backends/cpu/cpu.h"
#include "kernels/reference/image/image.h"

/* in, out and taps of an axis; the rest is NULL. */
void nd4c_cpu_resize_describe(const nd4c_call *call, int32_t axis, nd4c_ref_resize_axis *table);
/* Bytes of the tables of all axes. */
int64_t nd4c_cpu_resize_bytes(const nd4c_call *call);
/* Fills the tables of x's axes. memory: so many bytes, aligned to 8, which the tables point into. */
void nd4c_cpu_resize_fill(const nd4c_call *call, void *memory, nd4c_ref_resize_axis *axes);

#endif
