/* Functions that the families share which move, pick, place and order elements.
 *
 * Elements that only move are opaque units of 1, 2, 4, 8 or 16 bytes: one program a width, whatever the dtype. */
#ifndef ND4C_BACKENDS_OPENCL_SUPPORT_MOVING_H
#define ND4C_BACKENDS_OPENCL_SUPPORT_MOVING_H

#include "backends/opencl/runtime/opencl.h"
#include "nd4c/op_table.h"

#define ND4C_CL_MOVABLE_BIT(NAME, name, number, build, kind, bits, ...) \
  | ((bits) < 8 || ND4C_KIND_##kind == ND4C_KIND_STRING ? 0 : ND4C_DTYPE_BIT(number))
#define ND4C_CL_MOVABLE (UINT64_C(0) ND4C_DTYPE_TABLE(ND4C_CL_MOVABLE_BIT))

/* One pass over the steps of a call. A dry pass enqueues nothing and only writes to `reason` why the call cannot run.
 * So one function serves as `usable` and `run` of a kernel, and the two cannot differ. */
typedef struct nd4c_cl_step {
  const nd4c_call *call;
  char *reason; /* not NULL: dry */
  size_t reason_size;
} nd4c_cl_step;
typedef nd4c_status (*nd4c_cl_step_function)(const nd4c_cl_step *step);

static inline bool nd4c_cl_is_dry(const nd4c_cl_step *step) {
  return step->reason != NULL;
}

/* Refuses: the reason of a dry pass, the error of a run. */
nd4c_status nd4c_cl_step_refuse(const nd4c_cl_step *step, const char *format, ...) ND4C_PRINTF(2, 3);
/* Of a dry pass: nd4c_cl_call_usable, and nd4c_cl_fp64_usable before it. */
nd4c_status nd4c_cl_step_call(const nd4c_cl_step *step);
nd4c_status nd4c_cl_step_fp64(const nd4c_cl_step *step);
/* The same: nd4c_cl_dtype_usable. */
nd4c_status nd4c_cl_step_dtype(const nd4c_cl_step *step, nd4c_dtype dtype);
/* A dry pass; `reason` may be NULL. */
bool nd4c_cl_step_dry(const nd4c_call *call, nd4c_cl_step_function function, char *reason, size_t reason_size);
/* The same of a call whose operands can all be moved. */
bool nd4c_cl_step_usable(const nd4c_call *call, nd4c_cl_step_function function, char *reason, size_t reason_size);

/* Functions <name>_usable and <name>_run of what a step does: an expression of `step`, such as the call of a step
 * function. */
#define ND4C_CL_STEP(name, what)                                                       \
  static nd4c_status name##_step(const nd4c_cl_step *step) {                           \
    return what;                                                                       \
  }                                                                                    \
  static bool name##_usable(const nd4c_call *call, char *reason, size_t reason_size) { \
    return nd4c_cl_step_usable(call, name##_step, reason, reason_size);                \
  }                                                                                    \
  static nd4c_status name##_run(const nd4c_call *call) {                               \
    return name##_step(&(nd4c_cl_step){.call = call});                                 \
  }
/* A kernel of them. `scratch`: how many bytes a call works in, or NULL. */
#define ND4C_CL_STEP_KERNEL(op_name, dtype_set, what, scratch) \
  ND4C_CL_STEP(op_name, what)                                  \
  ND4C_CL_KERNEL(op_name, dtype_set, op_name##_usable, op_name##_run, scratch)

static inline bool nd4c_cl_is_float(nd4c_dtype dtype) {
  return (ND4C_DTYPE_BIT(dtype) & ND4C_CL_FLOATS) != 0;
}
/* Bytes of an element; 0 for packed dtypes and strings. */
int32_t nd4c_cl_element_bytes(nd4c_dtype dtype);

/* -- walks over elements ------------------------------------------------------------------------------------------ */

enum { ND4C_CL_RANK = 8, ND4C_CL_WALKED = 4 };

/* C order over a shape and up to four operands' strides (elements) along it, axes merged where all operands allow it.
 * The same struct as nd4c_walk of common.cl; passed by ND4C_CL_VALUE. */
typedef struct nd4c_cl_walk {
  int64_t size;
  int32_t rank, unused;
  int64_t shape[ND4C_CL_RANK];
  int64_t strides[ND4C_CL_WALKED][ND4C_CL_RANK];
} nd4c_cl_walk;

/* Distance in memory between neighbours of a walk's first operand. */
static inline int64_t nd4c_cl_walk_step(const nd4c_cl_walk *walk) {
  int64_t step = walk->rank > 0 ? walk->strides[0][walk->rank - 1] : INT64_MAX;
  return step < 0 ? -step : step;
}

/* Strides of a tensor broadcast to a shape by NumPy's rules; NULL: 0. */
void nd4c_cl_broadcast_strides(const nd4c_tensor *tensor, int32_t rank, const int64_t *shape, int64_t *strides);
/* A walk along `count` operands' strides; a step that is refused if more than ND4C_CL_RANK axes stay after merging. */
nd4c_status nd4c_cl_step_walk(const nd4c_cl_step *step, nd4c_cl_walk *walk, int32_t rank, const int64_t *shape,
                              int32_t count, const int64_t *const *strides);
/* The same along tensors that are broadcast to the shape; NULL: not there. */
nd4c_status nd4c_cl_step_walk_tensors(const nd4c_cl_step *step, nd4c_cl_walk *walk, int32_t rank, const int64_t *shape,
                                      int32_t count, const nd4c_tensor *const *tensors);
/* The same along all elements of one tensor. */
nd4c_status nd4c_cl_step_walk_all(const nd4c_cl_step *step, nd4c_cl_walk *walk, const nd4c_tensor *tensor);
/* The axes that are not `inner` as a walk along the first counts[0] operands' strides, and those that are as one along
 * the first counts[1]. */
nd4c_status nd4c_cl_step_walk_split(const nd4c_cl_step *step, nd4c_cl_walk *kept, nd4c_cl_walk *inner, int32_t rank,
                                    const int64_t *shape, const bool *is_inner, const int32_t *counts,
                                    const int64_t *const *strides);

/* -- kernels ------------------------------------------------------------------------------------------------------- */

/* Options of a kernel on units as wide as `dtype`, or of a typed one (TYPE_A); `dtype` NONE: neither. */
nd4c_cl_options nd4c_cl_unit_options(const nd4c_call *call, nd4c_dtype dtype);
nd4c_cl_options nd4c_cl_typed_options(const nd4c_call *call, nd4c_dtype dtype);
/* Of one that is typed by the first two inputs (TYPE_A, TYPE_B) and the first output (TYPE_Y). */
nd4c_cl_options nd4c_cl_op_options(const nd4c_call *call);

#define ND4C_CL_RUN_UNITS(call, source, function, dtype, count, ...) \
  ND4C_CL_RUN_ITEMS(call, source, function, nd4c_cl_unit_options((call), (dtype)), count, __VA_ARGS__)
#define ND4C_CL_RUN_TYPED(call, source, function, dtype, count, ...) \
  ND4C_CL_RUN_ITEMS(call, source, function, nd4c_cl_typed_options((call), (dtype)), count, __VA_ARGS__)
#define ND4C_CL_RUN_OPS(call, source, function, count, ...) \
  ND4C_CL_RUN_ITEMS(call, source, function, nd4c_cl_op_options(call), count, __VA_ARGS__)
/* The same of a step; a dry one runs nothing. */
#define ND4C_CL_STEP_UNITS(step, source, function, dtype, count, ...) \
  (nd4c_cl_is_dry(step) ? ND4C_OK : ND4C_CL_RUN_UNITS((step)->call, source, function, dtype, count, __VA_ARGS__))
#define ND4C_CL_STEP_TYPED(step, source, function, dtype, count, ...) \
  (nd4c_cl_is_dry(step) ? ND4C_OK : ND4C_CL_RUN_TYPED((step)->call, source, function, dtype, count, __VA_ARGS__))

/* Elements of `from` (its element 0 moved by from_shift) to `to`, along strides of their own over a shape. One dtype.
 */
nd4c_status nd4c_cl_move(const nd4c_cl_step *step, int32_t rank, const int64_t *shape, const nd4c_tensor *from,
                         int64_t from_shift, const int64_t *from_strides, const nd4c_tensor *to, int64_t to_shift,
                         const int64_t *to_strides);
/* y = x of one shape; nothing where they are the same view. */
nd4c_status nd4c_cl_copy(const nd4c_cl_step *step, const nd4c_tensor *x, const nd4c_tensor *y);
/* Every element of y. */
nd4c_status nd4c_cl_zero(const nd4c_cl_step *step, const nd4c_tensor *y);

/* Sliding windows over `spatial` axes, between images [n, c, space...] and columns [n, c cells, windows]. The same
 * struct as nd4c_columns of move.cl and sums.cl. */
typedef struct nd4c_cl_columns {
  int32_t spatial, unused;
  int64_t cells, all_windows, channels;
  int64_t kernel[ND4C_CL_RANK], stride[ND4C_CL_RANK], pad[ND4C_CL_RANK], dilation[ND4C_CL_RANK], windows[ND4C_CL_RANK],
      extent[ND4C_CL_RANK], image_strides[ND4C_CL_RANK];
  int64_t image_batch, image_channel, column_strides[3];
} nd4c_cl_columns;

/* attrs: kernel, strides, pads, dilations. */
nd4c_status nd4c_cl_columns_make(const nd4c_cl_step *step, const nd4c_attr_value *attrs, const nd4c_tensor *image,
                                 const nd4c_tensor *column, nd4c_cl_columns *columns);

#endif
