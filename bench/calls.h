/* Calls one op repeatedly on the same arrays, as a program in C would. bench/compare times nd4c with it. */
#ifndef ND4C_BENCH_CALLS_H
#define ND4C_BENCH_CALLS_H

#include <nd4c/nd4c.h>

/* Nanoseconds per call for `calls` calls of the op, with all attributes in the schema's order; negative if a call
 * failed. fresh: each call allocates its outputs and releases them; otherwise the given outputs are written. */
ND4C_API double bench_calls(nd4c_op op, const nd4c_array *const *inputs, int32_t input_count,
                            const nd4c_attr_value *attrs, nd4c_array **outputs, int32_t output_count, bool fresh,
                            int64_t calls);

#endif
