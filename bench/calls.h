/* One op called over and over on the same arrays, as a program in C would: what bench/compare times of nd4c. */
#ifndef ND4C_BENCH_CALLS_H
#define ND4C_BENCH_CALLS_H

#include <nd4c/nd4c.h>

/* Nanoseconds a call of `calls` calls of the op, with all attributes of its schema in their order; negative if one
 * failed. Fresh: each call makes its outputs and releases them; else they are written into, one after the other. */
ND4C_API double bench_calls(nd4c_op op, const nd4c_array *const *inputs, int32_t input_count,
                            const nd4c_attr_value *attrs, nd4c_array **outputs, int32_t output_count, bool fresh,
                            int64_t calls);

#endif
