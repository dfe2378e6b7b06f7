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
/* A dry pass of a call whose operands can all be moved. */
bool nd4c_cl_step_usable(const nd4c_call *call, nd4c_cl_step_function function, char *reason, size_t reason_size);

/* A kernel of what a step does: an expression of `step`, such as the call of a step function. `scratch`: how many bytes
 * a call works in, or NULL. */
#define ND4C_CL_STEP_KERNEL(op_name, dtype_set, what, scratch)                            \
  static nd4c_status op_name##_step(const nd4c_cl_step *step) {                           \
    return what;                                                                          \
  }                                                                                       \
  static bool op_name##_usable(const nd4c_call *call, char *reason, size_t reason_size) { \
    return nd4c_cl_step_usable(call, op_name##_step, reason, reason_size);                \
  }                                                                                       \
  static nd4c_status op_name##_run(const nd4c_call *call) {                               \
    return op_name##_step(&(nd4c_cl_step){.call = call});                                 \
  }                                                                                       \
  ND4C_CL_KERNEL(op_name, dtype_set, op_name##_usable, op_name##_run, scratch)

/* Bytes of an element; 0 for packed dtypes and strings. */
int32_t nd4c_cl_element_bytes(nd4c_dtype dtype);

/* Strides of a tensor broadcast to a shape by NumPy's rules. */
void nd4c_cl_broadcast_strides(const nd4c_tensor *tensor, int32_t rank, const int64_t *shape, int64_t *strides);

/* A walk along `count` operands' strides; a step that is refused if it has too many axes. */
nd4c_status nd4c_cl_step_walk(const nd4c_cl_step *step, nd4c_cl_walk *walk, int32_t rank, const int64_t *shape,
                              int32_t count, const int64_t *const *strides);

/* The same along tensors that are broadcast to the shape; NULL: not there. */
nd4c_status nd4c_cl_step_walk_tensors(const nd4c_cl_step *step, nd4c_cl_walk *walk, int32_t rank, const int64_t *shape,
                                      int32_t count, const nd4c_tensor *const *tensors);

/* The same along all elements of one tensor. */
nd4c_status nd4c_cl_step_walk_all(const nd4c_cl_step *step, nd4c_cl_walk *walk, const nd4c_tensor *tensor);

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
