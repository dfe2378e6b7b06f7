/* What the files of the CPU backend share: the host's table, sets of dtypes, entries of kernels, failures and shares of
 * the pool. Every engine and library of the backend includes this. */
#ifndef ND4C_BACKENDS_CPU_CPU_H
#define ND4C_BACKENDS_CPU_CPU_H

#include <stdio.h>
#include <string.h>

#include "backends/reading.h"
#include "kernels/narrow.h"
#include "kernels/types.h"
#include "nd4c/plugin.h"

/* The host's table; set before anything else runs. */
extern const nd4c_host *nd4c_cpu_host;

/* Engines simd and reference. */
extern const nd4c_engine nd4c_cpu_simd_engine, nd4c_cpu_reference_engine;
/* Picks the tables of this machine's level. Must run before any kernel of engine simd. */
void nd4c_cpu_simd_open(void);

/* Memory that a prepared state has beside its record: host memory, counted as the device's. */
typedef struct nd4c_cpu_held {
  void *memory; /* NULL: none */
  size_t bytes;
  nd4c_device_memory *counted;
} nd4c_cpu_held;
/* Fails, with *held empty, if there is no memory or the device's cap leaves no room. `origin` is static. */
nd4c_status nd4c_cpu_hold(const nd4c_call *call, size_t bytes, const char *origin, nd4c_cpu_held *held);
/* Frees it; held may be empty or zeroed. */
void nd4c_cpu_let_go(nd4c_cpu_held *held);

/* Sets of dtypes that kernels declare, limited to those of this build. */
#define ND4C_CPU_DTYPE_BIT(NAME, name, kind) | ND4C_DTYPE_BIT(ND4C_##NAME)
#define ND4C_CPU_BOOLS (UINT64_C(0) ND4C_BOOL_DTYPES(ND4C_CPU_DTYPE_BIT))
#define ND4C_CPU_INTS (UINT64_C(0) ND4C_INT_DTYPES(ND4C_CPU_DTYPE_BIT) ND4C_UINT_DTYPES(ND4C_CPU_DTYPE_BIT))
#define ND4C_CPU_FLOATS (UINT64_C(0) ND4C_HALF_DTYPES(ND4C_CPU_DTYPE_BIT) ND4C_WIDE_FLOAT_DTYPES(ND4C_CPU_DTYPE_BIT))
#define ND4C_CPU_COMPLEXES (UINT64_C(0) ND4C_COMPLEX_DTYPES(ND4C_CPU_DTYPE_BIT))
#define ND4C_CPU_REALS (ND4C_CPU_INTS | ND4C_CPU_FLOATS)
#define ND4C_CPU_NUMBERS (ND4C_CPU_REALS | ND4C_CPU_COMPLEXES)
#define ND4C_CPU_ALL (ND4C_CPU_BOOLS | ND4C_CPU_NUMBERS)
/* Sets of narrow dtypes, which most kernels do not take. Moves take float8 (one byte for each element); moves that keep
 * C order take packed dtypes, too. */
#define ND4C_CPU_NARROW_BIT(NAME, ...) | ND4C_DTYPE_BIT(ND4C_##NAME)
#define ND4C_CPU_FLOAT8S (UINT64_C(0) ND4C_FLOAT8_DTYPES(ND4C_CPU_NARROW_BIT))
#define ND4C_CPU_PACKED (UINT64_C(0) ND4C_PACKED_DTYPES(ND4C_CPU_NARROW_BIT))
#define ND4C_CPU_MOVABLE (ND4C_CPU_ALL | ND4C_CPU_FLOAT8S)
#define ND4C_CPU_STORED (ND4C_CPU_MOVABLE | ND4C_CPU_PACKED)

/* The libraries are asked before engine simd (simd.h), where they have an op. */
enum { ND4C_CPU_PRIORITY_OPENBLAS = 200, ND4C_CPU_PRIORITY_FFTW = 200, ND4C_CPU_PRIORITY_ONEDNN = 300 };

/* A kernel in a family's list. Further fields of nd4c_kernel may follow the run function. */
#define ND4C_CPU_KERNEL(engine_name, op_name, kernel_name, its_priority, dtype_set, usable_function, ...) \
  &(const nd4c_kernel) {                                                                                  \
    .struct_size = ND4C_SIZE_OF(nd4c_kernel), .op_version = 1, .op = #op_name, .engine = engine_name,     \
    .name = engine_name "." kernel_name, .priority = (its_priority), .dtypes = (dtype_set),               \
    .usable = (usable_function), .run = __VA_ARGS__                                                       \
  }

/* A kernel of the reference. Its other operands are of ND4C_CPU_ALL, or, with nd4c_cpu_reference_stored as `usable`, of
 * ND4C_CPU_STORED. */
#define ND4C_CPU_REFERENCE_KERNEL(op_name, dtype_set, ...) \
  ND4C_CPU_REFERENCE_KERNEL_IF(op_name, dtype_set, nd4c_cpu_reference_usable, __VA_ARGS__)
#define ND4C_CPU_REFERENCE_KERNEL_IF(op_name, dtype_set, usable_function, ...) \
  ND4C_CPU_KERNEL("reference", op_name, #op_name, 0, dtype_set, usable_function, __VA_ARGS__)

/* False for an operand of a dtype that no kernel here computes: strings. */
bool nd4c_cpu_reference_usable(const nd4c_call *call, char *reason, size_t reason_size);
bool nd4c_cpu_reference_stored(const nd4c_call *call, char *reason, size_t reason_size);

/* In a function that returns a status: fails with this status and text under the condition. */
#define ND4C_CPU_FAIL_IF(condition, status, ...)       \
  do {                                                 \
    if (condition)                                     \
      return nd4c_cpu_host->fail(status, __VA_ARGS__); \
  } while (0)

/* Writes why a kernel cannot compute a call, and returns false. */
bool nd4c_cpu_decline(char *reason, size_t reason_size, const char *format, ...) ND4C_PRINTF(3, 4);
/* In a `usable` function: returns with this text under the condition. */
#define ND4C_CPU_DECLINE_IF(condition, ...)                      \
  do {                                                           \
    if (condition)                                               \
      return nd4c_cpu_decline(reason, reason_size, __VA_ARGS__); \
  } while (0)

enum { ND4C_CPU_MAX_RANK = 32, ND4C_CPU_CACHE_LINE = 64 };

/* a / b rounded up, of a >= 0 and b > 0. */
static inline int64_t nd4c_cpu_divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/* Bytes an element; 0 for a dtype that this backend does not compute, and for packed ones. */
static inline int32_t nd4c_cpu_dtype_bytes(nd4c_dtype dtype) {
#define ND4C_CPU_DTYPE_BYTES(NAME, name, kind) [ND4C_##NAME] = sizeof(nd4c_c_##name),
#define ND4C_CPU_FLOAT8_BYTES(NAME, name) [ND4C_##NAME] = 1,
  static const int32_t bytes[ND4C_DTYPE_END] = {ND4C_NUMBER_DTYPES(ND4C_CPU_DTYPE_BYTES)
                                                    ND4C_FLOAT8_DTYPES(ND4C_CPU_FLOAT8_BYTES)};
#undef ND4C_CPU_FLOAT8_BYTES
#undef ND4C_CPU_DTYPE_BYTES
  return bytes[dtype];
}

static inline bool nd4c_cpu_same_shape(const nd4c_tensor *a, const nd4c_tensor *b) {
  return a->rank == b->rank && (a->rank == 0 || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0);
}

/* parallel_for that stays in the caller, without a call through the host, when there is too little to share. */
static inline void nd4c_cpu_parallel(int64_t count, int64_t grain, int32_t width, nd4c_range_function range,
                                     void *user) {
  if (count <= grain || width <= 1) {
    range(user, 0, count, 0);
  } else {
    nd4c_cpu_host->parallel_for(count, grain, width, range, user);
  }
}

/* Defines `name`, which computes a range with a kernel of the form kernel(arguments, begin, end). */
#define ND4C_CPU_RANGE(name, kernel)                                         \
  static void name(void *user, int64_t begin, int64_t end, int32_t worker) { \
    (void)worker;                                                            \
    kernel(user, begin, end);                                                \
  }

/* Strides of `tensor` seen with the shape of `as` (broadcast, aligned at the last axis): 0 on repeated axes. */
static inline void nd4c_cpu_broadcast_strides(const nd4c_tensor *tensor, const nd4c_tensor *as, int64_t *strides) {
  int32_t missing = as->rank - tensor->rank;
  for (int32_t axis = 0; axis < as->rank; axis++) {
    strides[axis] =
        axis < missing || tensor->shape[axis - missing] != as->shape[axis] ? 0 : tensor->strides[axis - missing];
  }
}

/* Which of x's axes the attribute `axes` names; all if it is left out. */
static inline void nd4c_cpu_reduced_axes(int32_t rank, const nd4c_attr_value *axes, bool *reduced) {
  for (int32_t axis = 0; axis < rank; axis++) {
    reduced[axis] = axes->as.ints == NULL;
  }
  for (int32_t i = 0; i < axes->count; i++) {
    reduced[nd4c_axis(axes->as.ints[i], rank)] = true;
  }
}

/* Strides of the output by x's axes, 0 on the reduced ones. */
static inline void nd4c_cpu_reduction_strides(int32_t rank, const bool *reduced, bool keepdims, const nd4c_tensor *y,
                                              int64_t *strides) {
  int32_t position = 0;
  for (int32_t axis = 0; axis < rank; axis++) {
    strides[axis] = reduced[axis] ? 0 : y->strides[position];
    position += keepdims || !reduced[axis];
  }
}

/* The failure of gather at an index out of range. */
static inline nd4c_status nd4c_cpu_gather_fail(int64_t index, int64_t axis, int64_t extent) {
  return nd4c_cpu_host->fail(
      ND4C_INDEX, "gather: index %lld is out of range for axis %lld of length %lld: expected %lld to %lld",
      (long long)index, (long long)axis, (long long)extent, (long long)-extent, (long long)(extent - 1));
}

/* The reason that kernels of numbers give for strings. */
#define ND4C_CPU_NO_STRINGS "strings are offsets into their own storage: only views of them are supported"
#define ND4C_CPU_NO_NARROW "narrow dtypes are not computed with: cast first"

#endif
