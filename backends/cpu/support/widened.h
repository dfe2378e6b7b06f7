/* Kernels that compute a call of 16-bit floats by a kernel of float32, or a call of reals by one of float64, of the
 * same engine: they widen the operands, run that kernel and round its results. They exist for ops without kernels of
 * 16-bit floats, for eager calls and for plans whose pass `widen` is switched off: they have the flag
 * ND4C_KERNEL_CONVERTS. The widened.c of each engine lists them.
 *
 * Operands are widened in scratch. An axis that repeats an input (stride 0) repeats the widened one, if the kernel of
 * float32 reads it so; else the input is written out. Operands whose elements lie in memory several times otherwise,
 * or would be written out so, are refused beyond a factor, so that scratch is bounded by the memory of operands. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_WIDENED_H
#define ND4C_BACKENDS_CPU_SUPPORT_WIDENED_H

#include "backends/cpu/cpu.h"

/* What such kernels share, nd4c_kernel.data: the families of kernels of the wider dtype, NULL behind the last one. Of
 * those that can compute the widened call they take the one with the highest priority, which must be at least `least`.
 */
typedef struct nd4c_widened_source {
  const nd4c_kernel *const *const *families;
  int32_t least;
  bool doubles; /* reals become float64, complex64 becomes complex128 */
} nd4c_widened_source;

/* Functions of these kernels. */
bool nd4c_widened_usable(const nd4c_call *call, char *reason, size_t reason_size);
nd4c_status nd4c_widened_prepare(const nd4c_call *call, void **state);
void nd4c_widened_unprepare(void *state);
int64_t nd4c_widened_scratch_bytes(const nd4c_call *call);
nd4c_status nd4c_widened_run(const nd4c_call *call);

#define ND4C_WIDENED_KERNEL(engine, op, kernel_name, priority, its_dtypes, source) \
  ND4C_WIDENED_KERNEL_WITH(engine, op, kernel_name, priority, its_dtypes, source, nd4c_widened_usable)
/* The same with another question of usability, which ends with nd4c_widened_usable. */
#define ND4C_WIDENED_KERNEL_WITH(engine, op, kernel_name, priority, its_dtypes, source, its_usable)              \
  ND4C_CPU_KERNEL(engine, op, kernel_name, priority, ND4C_CPU_REALS &(its_dtypes), its_usable, nd4c_widened_run, \
                  .prepare = nd4c_widened_prepare, .unprepare = nd4c_widened_unprepare,                          \
                  .scratch_bytes = nd4c_widened_scratch_bytes, .data = &(source), .flags = ND4C_KERNEL_CONVERTS)

#endif
