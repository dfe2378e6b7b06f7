/* Inference rules of op_table/creation.h. nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* Gives: the attribute shape, in the dtype of value, which has one element. */
nd4c_status nd4c_infer_full(nd4c_inference *inference) {
  const nd4c_tensor *value = &inference->inputs[0];
  if (!nd4c_rule_is_equal(inference, value->size, 1)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected one element");
  }
  return nd4c_rule_shape_attr(inference, &inference->attrs[ND4C_ATTR_full_shape], value->dtype);
}

/* Gives: the shape and dtype of x. value has one element of x's dtype. */
nd4c_status nd4c_infer_full_like(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *value = &inference->inputs[ND4C_IN_full_like_value];
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_full_like_value));
  if (!nd4c_rule_is_equal(inference, value->size, 1)) {
    return nd4c_rule_refuse(inference, ND4C_IN_full_like_value, ND4C_SHAPE, "expected one element");
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: the attribute shape, in the attribute dtype. */
nd4c_status nd4c_infer_filled(nd4c_inference *inference) {
  int64_t dtype = inference->attrs[ND4C_ATTR_zeros_dtype].as.i;
  ND4C_TRY(nd4c_rule_dtype_attr(inference, dtype));
  return nd4c_rule_shape_attr(inference, &inference->attrs[ND4C_ATTR_zeros_shape], (nd4c_dtype)dtype);
}

/* Gives: x's shape, in the attribute dtype; by default x's. */
nd4c_status nd4c_infer_like(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t dtype = inference->attrs[ND4C_ATTR_zeros_like_dtype].as.i;
  dtype = dtype == ND4C_DTYPE_NONE ? x->dtype : dtype;
  ND4C_TRY(nd4c_rule_dtype_attr(inference, dtype));
  nd4c_rule_output(inference, (nd4c_dtype)dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* -- ranges ------------------------------------------------------------------------------------------------------ */

/* Whether start + i step is before stop, as if computed without rounding: fma and TwoSum give what was lost. */
static bool is_before(double start, double stop, double step, double i) {
  double product = i * step, product_rest = fma(i, step, -product);
  double gap = stop - start, back = gap - stop;
  double gap_rest = (stop - (gap - back)) - (start + back);
  double difference = (product - gap) + (product_rest - gap_rest);
  return step > 0 ? difference < 0 : difference > 0;
}

/* Gives: a vector of ceil((stop - start) / step) elements, none if that is negative, in the attribute dtype. */
nd4c_status nd4c_infer_arange(nd4c_inference *inference) {
  double start = inference->attrs[ND4C_ATTR_arange_start].as.f, stop = inference->attrs[ND4C_ATTR_arange_stop].as.f;
  double step = inference->attrs[ND4C_ATTR_arange_step].as.f;
  int64_t dtype = inference->attrs[ND4C_ATTR_arange_dtype].as.i, count;
  ND4C_TRY(nd4c_rule_dtype_attr(inference, dtype));
  if (!isfinite(start) || !isfinite(stop) || !isfinite(step) || step == 0) {
    return nd4c_fail(ND4C_ARGUMENT, "arange: from %g to %g by %g, expected finite numbers and a step that is not 0",
                     start, stop, step);
  }
  double estimate = ceil((stop - start) / step);
  if (!(estimate < 0x1p62)) {
    return nd4c_fail(ND4C_OVERFLOW, "arange: %g elements from %g to %g by %g, expected fewer than 2^62", estimate,
                     start, stop, step);
  }
  count = estimate > 0 ? (int64_t)estimate : 0;
  count += is_before(start, stop, step, (double)count);
  count -= count > 0 && !is_before(start, stop, step, (double)(count - 1));
  nd4c_rule_output(inference, (nd4c_dtype)dtype, 1, &count);
  return ND4C_OK;
}

/* Writes 64 bits as a decimal number, signed or unsigned. */
static void write_integer(char text[24], uint64_t bits, bool is_unsigned) {
  if (is_unsigned) {
    (void)snprintf(text, 24, "%" PRIu64, bits);
  } else {
    (void)snprintf(text, 24, "%" PRId64, (int64_t)bits);
  }
}

/* Where a range of integers ends: the index of its last element, false if there is none. Differences are taken modulo
 * 2^64, which is right for signed and unsigned bounds alike. */
static bool last_index(uint64_t start, uint64_t stop, int64_t step, bool is_unsigned, bool endpoint, uint64_t *last) {
  bool below = is_unsigned ? start < stop : (int64_t)start < (int64_t)stop;
  if (start == stop ? !endpoint : below != (step > 0)) {
    return false;
  }
  uint64_t span = step > 0 ? stop - start : start - stop, stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
  *last = (endpoint ? span : span - 1) / stride;
  return true;
}

/* Gives: a vector of the numbers from start to stop by step (including stop if endpoint), in the attribute dtype. */
nd4c_status nd4c_infer_integer_range(nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  int64_t start = attrs[ND4C_ATTR_integer_range_start].as.i, stop = attrs[ND4C_ATTR_integer_range_stop].as.i;
  int64_t step = attrs[ND4C_ATTR_integer_range_step].as.i, dtype = attrs[ND4C_ATTR_integer_range_dtype].as.i;
  bool endpoint = attrs[ND4C_ATTR_integer_range_endpoint].as.i != 0, is_unsigned = dtype == ND4C_UINT64;
  uint64_t last = 0;
  ND4C_TRY(nd4c_rule_dtype_attr(inference, dtype));
  if (nd4c_extents_has(inference->extents, start) || nd4c_extents_has(inference->extents, stop)) {
    return nd4c_rule_extent_range(inference, start, stop, step, endpoint);
  }
  if (step == 0) {
    return nd4c_fail(ND4C_ARGUMENT, "integer_range: step is 0, expected another number");
  }
  bool any = last_index((uint64_t)start, (uint64_t)stop, step, is_unsigned, endpoint, &last);
  if (any && last >= INT64_MAX) {
    char from[24], to[24];
    write_integer(from, (uint64_t)start, is_unsigned);
    write_integer(to, (uint64_t)stop, is_unsigned);
    return nd4c_fail(ND4C_OVERFLOW, "integer_range: from %s to %s by %lld: more elements than 64 bits count", from, to,
                     (long long)step);
  }
  int64_t ends[2] = {start, (int64_t)((uint64_t)start + last * (uint64_t)step)};
  for (int32_t i = 0; any && !is_unsigned && i < 2; i++) {
    if (!nd4c_rule_holds((nd4c_dtype)dtype, ends[i])) {
      return nd4c_fail(ND4C_OVERFLOW, "integer_range: %lld does not fit %s", (long long)ends[i],
                       nd4c_dtype_name((nd4c_dtype)dtype));
    }
  }
  int64_t count = any ? (int64_t)last + 1 : 0;
  nd4c_rule_output(inference, (nd4c_dtype)dtype, 1, &count);
  return ND4C_OK;
}

/* First output of linspace and logspace; both begin with start, stop, num. */
static nd4c_status infer_spaced(nd4c_inference *inference, int64_t dtype) {
  int64_t count = inference->attrs[ND4C_ATTR_linspace_num].as.i;
  ND4C_TRY(nd4c_rule_dtype_attr(inference, dtype));
  if (count < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: num is %lld, expected at least 0", inference->op->name, (long long)count);
  }
  nd4c_rule_output(inference, (nd4c_dtype)dtype, 1, &count);
  return ND4C_OK;
}

/* Gives: a vector of num elements, in the attribute dtype. */
nd4c_status nd4c_infer_linspace(nd4c_inference *inference) {
  return infer_spaced(inference, inference->attrs[ND4C_ATTR_linspace_dtype].as.i);
}

/* Gives: a vector of num elements, in the attribute dtype. */
nd4c_status nd4c_infer_logspace(nd4c_inference *inference) {
  return infer_spaced(inference, inference->attrs[ND4C_ATTR_logspace_dtype].as.i);
}

/* -- matrices and grids -------------------------------------------------------------------------------------------- */

/* Gives: [rows, columns], in the attribute dtype; columns -1: as many as rows. */
nd4c_status nd4c_infer_eye(nd4c_inference *inference) {
  int64_t rows = inference->attrs[ND4C_ATTR_eye_rows].as.i, columns = inference->attrs[ND4C_ATTR_eye_columns].as.i;
  int64_t dtype = inference->attrs[ND4C_ATTR_eye_dtype].as.i, shape[2] = {rows, columns == -1 ? rows : columns};
  ND4C_TRY(nd4c_rule_dtype_attr(inference, dtype));
  bool sound = (rows >= 0 || nd4c_extents_has(inference->extents, rows)) &&
               (columns >= -1 || nd4c_extents_has(inference->extents, columns));
  if (!sound) {
    return nd4c_fail(ND4C_SHAPE, "%s: %lld rows and %lld columns, expected at least 0 (columns -1: as many as rows)",
                     inference->op->name, (long long)rows, (long long)columns);
  }
  nd4c_rule_output(inference, (nd4c_dtype)dtype, 2, shape);
  return ND4C_OK;
}

/* Gives: [number of axes of shape, ...shape], in the attribute dtype. */
nd4c_status nd4c_infer_indices(nd4c_inference *inference) {
  const nd4c_attr_value *given = &inference->attrs[ND4C_ATTR_indices_shape];
  int64_t dtype = inference->attrs[ND4C_ATTR_indices_dtype].as.i, shape[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_rule_dtype_attr(inference, dtype));
  ND4C_TRY(nd4c_rule_shape_attr(inference, given, (nd4c_dtype)dtype));
  ND4C_TRY(nd4c_rule_rank(inference, (int64_t)given->count + 1));
  shape[0] = given->count;
  for (int32_t i = 0; i < given->count; i++) {
    shape[i + 1] = given->as.ints[i];
  }
  nd4c_rule_output(inference, (nd4c_dtype)dtype, given->count + 1, shape);
  return ND4C_OK;
}
