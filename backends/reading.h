/* What a call's shapes and attributes say, read in one place. The families of backends/cpu and backends/opencl call
 * these. */
#ifndef ND4C_BACKENDS_READING_H
#define ND4C_BACKENDS_READING_H

#include <string.h>

#include "kernels/creation.h"
#include "kernels/resize.h"
#include "kernels/space.h"
#include "nd4c/plugin.h"

/* Returns the status of a call that failed. */
#define ND4C_BACKEND_TRY(call)       \
  do {                               \
    nd4c_status try_status = (call); \
    if (try_status != ND4C_OK)       \
      return try_status;             \
  } while (0)

/* Attributes of a call, by the op's name and their own: ND4C_REAL_OF(call, elu_alpha). */
#define ND4C_REAL_OF(call, name) ((call)->attrs[ND4C_ATTR_##name].as.f)
#define ND4C_INT_OF(call, name) ((call)->attrs[ND4C_ATTR_##name].as.i)
#define ND4C_FLAG_OF(call, name) ((call)->attrs[ND4C_ATTR_##name].as.i != 0)

/* An axis that counts from the end if it is negative. */
static inline int32_t nd4c_axis(int64_t axis, int32_t rank) {
  return (int32_t)(axis < 0 ? axis + rank : axis);
}

/* Whether a tensor lies in C order without gaps. */
static inline bool nd4c_in_c_order(const nd4c_tensor *x) {
  int64_t run = 1;
  for (int32_t axis = x->rank - 1; axis >= 0; run *= x->shape[axis--]) {
    if (x->shape[axis] != 1 && x->strides[axis] != run) {
      return false;
    }
  }
  return true;
}

enum { ND4C_MOST_COPIES = 16 /* elements of scratch that a kernel copies for one in memory */ };

/* Elements of memory from the first to the last one that x, which is not empty, has. A view lies in its memory, so
 * nothing overflows. */
static inline int64_t nd4c_memory_span(const nd4c_tensor *x) {
  int64_t span = 1;
  for (int32_t axis = 0; axis < x->rank; axis++) {
    const int64_t stride = x->strides[axis] < 0 ? -x->strides[axis] : x->strides[axis];
    span += (x->shape[axis] - 1) * stride;
  }
  return span;
}

/* C-order strides. */
static inline void nd4c_dense_strides(int32_t rank, const int64_t *shape, int64_t *strides) {
  int64_t stride = 1;
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
}

static inline nd4c_strided nd4c_strided_of(const nd4c_tensor *tensor) {
  return (nd4c_strided){tensor->rank, tensor->shape, tensor->strides};
}

static inline nd4c_resize_lists nd4c_resize_lists_of(const nd4c_call *call) {
  const nd4c_attr_value *axes = &call->attrs[ND4C_ATTR_resize_axes], *sizes = &call->attrs[ND4C_ATTR_resize_sizes];
  int64_t aspect = call->attrs[ND4C_ATTR_resize_aspect].as.i;
  return (nd4c_resize_lists){.rank = call->inputs[0].rank,
                             .shape = call->inputs[0].shape,
                             .axes = axes->as.ints,
                             .axis_count = axes->count,
                             .sizes = sizes->as.ints,
                             .size_count = sizes->count,
                             .scales = call->attrs[ND4C_ATTR_resize_scales].as.floats,
                             .keeps_aspect = aspect != ND4C_RESIZE_ASPECT_STRETCH,
                             .not_larger = aspect == ND4C_RESIZE_ASPECT_NOT_LARGER};
}

static inline nd4c_spacing nd4c_spacing_of(const nd4c_call *call) {
  const nd4c_attr_value *attrs = call->attrs;
  if (call->op->op == ND4C_OP_logspace) {
    return (nd4c_spacing){.start = attrs[ND4C_ATTR_logspace_start].as.f,
                          .stop = attrs[ND4C_ATTR_logspace_stop].as.f,
                          .base = attrs[ND4C_ATTR_logspace_base].as.f,
                          .steps = attrs[ND4C_ATTR_logspace_num].as.i - attrs[ND4C_ATTR_logspace_endpoint].as.i,
                          .is_power = true};
  }
  return (nd4c_spacing){.start = attrs[ND4C_ATTR_linspace_start].as.f,
                        .stop = attrs[ND4C_ATTR_linspace_stop].as.f,
                        .steps = attrs[ND4C_ATTR_linspace_num].as.i - attrs[ND4C_ATTR_linspace_endpoint].as.i};
}

static inline nd4c_cosines nd4c_cosines_of(const nd4c_call *call) {
  bool periodic = call->attrs[ND4C_ATTR_hann_window_periodic].as.i != 0; /* the first of each window's */
  int64_t n = periodic ? call->outputs[0].size : call->outputs[0].size - 1;
  double alpha = call->op->op == ND4C_OP_hamming_window ? call->attrs[ND4C_ATTR_hamming_window_alpha].as.f : 0.5;
  return call->op->op == ND4C_OP_blackman_window ? (nd4c_cosines){.a = {0.42, 0.5, 0.08}, .n = n}
                                                 : (nd4c_cosines){.a = {alpha, 1 - alpha}, .n = n};
}

/* matrix_norm: whether the norm needs singular values, sums rows rather than columns, or takes the least. */
static inline bool nd4c_norm_is_spectral(int64_t ord) {
  return ord == ND4C_MATRIX_NORM_ORDER_NUCLEAR || ord == ND4C_MATRIX_NORM_ORDER_TWO ||
         ord == ND4C_MATRIX_NORM_ORDER_MINUS_TWO;
}

static inline bool nd4c_norm_is_by_rows(int64_t ord) {
  return ord == ND4C_MATRIX_NORM_ORDER_INFINITE || ord == ND4C_MATRIX_NORM_ORDER_MINUS_INFINITE;
}

static inline bool nd4c_norm_is_least(int64_t ord) {
  return ord == ND4C_MATRIX_NORM_ORDER_MINUS_ONE || ord == ND4C_MATRIX_NORM_ORDER_MINUS_TWO ||
         ord == ND4C_MATRIX_NORM_ORDER_MINUS_INFINITE;
}

/* Where the result of convolve and correlate begins in the full one. */
static inline int64_t nd4c_convolve_shift(const nd4c_call *call) {
  bool correlation = call->op->op == ND4C_OP_correlate;
  const int64_t mode = call->attrs[ND4C_ATTR_convolve_mode].as.i;
  int64_t m = call->inputs[0].shape[0], n = call->inputs[1].shape[0], least = m < n ? m : n;
  if (mode == ND4C_CONVOLVE_MODE_VALID) {
    return least - 1;
  }
  if (mode == ND4C_CONVOLVE_MODE_SAME) { /* NumPy exchanges the operands of a correlation with a longer b */
    return correlation && m < n ? least / 2 : least - 1 - least / 2;
  }
  return 0;
}

#endif
