/* Engine simd: ops on the parts and bits of one number, and ops that leave numbers of some dtypes as they are.
 * dispatch/choice.c asks these kernels before the reference's; the loops come from
 * kernels/cpu/elementwise/pairs/parts.h. */
#include <math.h>

#include "backends/cpu/simd/elementwise/elementwise.h"
#include "kernels/reference/support/value.h"

static inline nd4c_unary_loop loop_of(const nd4c_call *call, enum nd4c_part_index op) {
  return nd4c_simd.parts->loops[op][call->inputs[0].dtype];
}

/* X(op, dtypes, cost): the cost of one element, in the unit of nd4c_nest_run. */
#define PART_OPS(X)                \
  X(trunc, ND4C_CPU_FLOATS, 1)     \
  X(frac, ND4C_CPU_FLOATS, 1)      \
  X(is_finite, ND4C_CPU_FLOATS, 1) \
  X(signbit, ND4C_CPU_FLOATS, 1)   \
  X(cube, ND4C_CPU_REALS, 2)       \
  X(bit_count, ND4C_CPU_INTS, 3)

#define DEFINE_PART(op, dtypes, cost)                                                  \
  static nd4c_status run_##op(const nd4c_call *call) {                                 \
    return nd4c_simd_run_unary(call, loop_of(call, ND4C_PART_##op), NULL, cost, NULL); \
  }
PART_OPS(DEFINE_PART)

/* Bools have one bit: inverted, it is the other truth value. */
static nd4c_status run_bitwise_invert(const nd4c_call *call) {
  const nd4c_dtype dtype = call->inputs[0].dtype;
  const nd4c_unary_loop loop = dtype == ND4C_BOOL ? nd4c_simd.unary->loops[ND4C_UNARY_logical_not][dtype]
                                                  : loop_of(call, ND4C_PART_bitwise_invert);
  return nd4c_simd_run_unary(call, loop, NULL, 1, NULL);
}

static nd4c_status run_is_inf(const nd4c_call *call) {
  const nd4c_unary_parameters parameters = {.alpha = ND4C_FLAG_OF(call, is_inf_detect_negative),
                                            .beta = ND4C_FLAG_OF(call, is_inf_detect_positive)};
  return nd4c_simd_run_unary(call, loop_of(call, ND4C_PART_is_inf), NULL, 1, &parameters);
}

/* -- nan_to_num ---------------------------------------------------------------------------------------------------- */

/* What is given beyond the range of the dtype stands for the end of the range. */
static nd4c_status run_nan_to_num(const nd4c_call *call) {
  const nd4c_dtype dtype = call->inputs[0].dtype;
  const double largest = nd4c_reference_largest(dtype);
  double given[3] = {ND4C_REAL_OF(call, nan_to_num_nan), ND4C_REAL_OF(call, nan_to_num_posinf),
                     ND4C_REAL_OF(call, nan_to_num_neginf)};
  _Alignas(double) char elements[sizeof given];
  for (int32_t i = 0; i < 3; i++) {
    const bool beyond = fabs(given[i]) > largest && !isinf(given[i]);
    given[i] = beyond ? copysign(largest, given[i]) : given[i];
  }
  if (dtype != ND4C_FLOAT64) {
    nd4c_simd.cast->loops[ND4C_FLOAT64][dtype](3, given, elements);
  }
  const nd4c_unary_parameters parameters = {.high = dtype == ND4C_FLOAT64 ? (const void *)given : elements};
  return nd4c_simd_run_unary(call, loop_of(call, ND4C_PART_nan_to_num), NULL, 1, &parameters);
}

/* -- ops that change nothing --------------------------------------------------------------------------------------- */

static nd4c_status run_copied(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  if (nd4c_simd_is_small(call, 1, 1)) {
    memmove(y->data, x->data, (size_t)(y->size * nd4c_cpu_dtype_bytes(y->dtype)));
  } else {
    nd4c_nest_copy_tensor(x, y, call->width);
  }
  return ND4C_OK;
}

/* The op's other kernel computes the integers with a sign. */
static bool usable_without_sign(const nd4c_call *call, char *reason, size_t reason_size) {
  const uint64_t signless = UINT64_C(0) ND4C_UINT_DTYPES(ND4C_CPU_DTYPE_BIT);
  ND4C_CPU_DECLINE_IF((signless >> call->inputs[0].dtype & 1) == 0, "a dtype with a sign");
  return true;
}

/* Elements as numbers of their size, whatever they stand for. */
static nd4c_status run_bit_cast(const nd4c_call *call) {
  nd4c_tensor x = call->inputs[0];
  nd4c_call same = *call;
  x.dtype = call->outputs[0].dtype;
  same.inputs = &x;
  return run_copied(&same);
}

static bool usable_bit_cast(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(nd4c_cpu_dtype_bytes(call->inputs[0].dtype) != nd4c_cpu_dtype_bytes(call->outputs[0].dtype),
                      "elements of different sizes");
  return true;
}

/* -- answers that are the same for every element --------------------------------------------------------------------
 */

static nd4c_status run_none(const nd4c_call *call) {
  const uint8_t zero[16] = {0};
  nd4c_simd_fill(&call->outputs[0], zero, call->width);
  return ND4C_OK;
}

static nd4c_status run_all(const nd4c_call *call) {
  const uint8_t yes = 1;
  nd4c_simd_fill(&call->outputs[0], &yes, call->width);
  return ND4C_OK;
}

/* A second kernel of an op, for the dtypes that the first one does not compute. */
#define PLAIN(op, suffix, dtypes, usable, run) \
  ND4C_CPU_KERNEL("simd", op, #op suffix, ND4C_SIMD_PRIORITY, dtypes, usable, run)
#define COPIED(op, dtypes, usable) PLAIN(op, "_copied", dtypes, usable, run_copied)
#define KERNEL(op, dtypes, cost) ND4C_CPU_SIMD_KERNEL(op, dtypes, NULL, run_##op),
const nd4c_kernel *const nd4c_cpu_simd_elementwise_parts_kernels[] = {
    PART_OPS(KERNEL) ND4C_CPU_SIMD_KERNEL(bitwise_invert, ND4C_CPU_INTS | ND4C_CPU_BOOLS, NULL, run_bitwise_invert),
    ND4C_CPU_SIMD_KERNEL(is_inf, ND4C_CPU_FLOATS, NULL, run_is_inf),
    ND4C_CPU_SIMD_KERNEL(nan_to_num, ND4C_CPU_FLOATS, NULL, run_nan_to_num),
    ND4C_CPU_SIMD_KERNEL(bit_cast, ND4C_CPU_ALL, usable_bit_cast, run_bit_cast),
    ND4C_CPU_SIMD_KERNEL(positive, ND4C_CPU_NUMBERS, NULL, run_copied),
    ND4C_CPU_SIMD_KERNEL(conj, ND4C_CPU_REALS, NULL, run_copied),
    ND4C_CPU_SIMD_KERNEL(real, ND4C_CPU_REALS, NULL, run_copied),
    ND4C_CPU_SIMD_KERNEL(imag, ND4C_CPU_REALS, NULL, run_none),
    COPIED(trunc, ND4C_CPU_INTS, NULL),
    COPIED(floor, ND4C_CPU_INTS, NULL),
    COPIED(ceil, ND4C_CPU_INTS, NULL),
    COPIED(round, ND4C_CPU_INTS, NULL),
    COPIED(abs, ND4C_CPU_INTS, usable_without_sign),
    COPIED(relu, ND4C_CPU_INTS, usable_without_sign),
    PLAIN(is_finite, "_everywhere", ND4C_CPU_INTS, NULL, run_all),
    PLAIN(is_inf, "_nowhere", ND4C_CPU_INTS, NULL, run_none),
    NULL};
