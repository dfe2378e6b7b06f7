/* Rules for the gradients of products, variances, norms, running sums and products. gradient.c looks rules up in this
 * list. */
#include <math.h>

#include "base/status.h"
#include "nd4c/extent.h"
#include "ops/gradient/gradient.h"

/* y where x is not the number, else 0 */
static nd4c_status zero_where(nd4c_emitter *e, nd4c_emitted x, double number, nd4c_emitted *y) {
  nd4c_emitted condition = ND4C_EMITTED_NONE, zero = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_equal, x, number, &condition));
  ND4C_TRY(nd4c_emit_scalar_like(e, *y, 0, &zero));
  return nd4c_emit_where(e, condition, zero, *y, y);
}

/* A reduction that keeps its axes. */
static nd4c_status reduce(nd4c_emitter *e, nd4c_op op, nd4c_emitted x, const nd4c_attr_value *axes, nd4c_emitted *y) {
  const nd4c_attr attrs[] = {{"axes", *axes}, nd4c_attr_of_bool("keepdims", true)};
  return nd4c_emit(e, op, &x, 1, attrs, 2, y);
}

/* -- products ------------------------------------------------------------------------------------------------------ */

/* A product from the first element of an axis to each, or from the last. */
static nd4c_status run_product(nd4c_emitter *e, nd4c_emitted x, int64_t axis, bool reverse, bool exclusive,
                               nd4c_emitted *y) {
  const nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_bool("reverse", reverse),
                             nd4c_attr_of_bool("exclusive", exclusive)};
  return nd4c_emit(e, ND4C_OP_cumulative_prod, &x, 1, attrs, 3, y);
}

nd4c_status nd4c_gradient_to_lines(nd4c_emitter *e, nd4c_emitted x, const nd4c_attr_value *axes,
                                   nd4c_gradient_lines *lines, nd4c_emitted *y) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  int32_t count = 0;
  *lines = (nd4c_gradient_lines){.rank = info.rank};
  for (int32_t reduced = 0; reduced < 2; reduced++) {
    for (int32_t i = 0; i < info.rank; i++) {
      if (nd4c_gradient_is_reduced(axes, info.rank, i) == (reduced == 1)) {
        lines->order[count] = i;
        lines->moved[count] = info.shape[i];
        lines->back[i] = count++;
      }
    }
    lines->kept = reduced == 0 ? count : lines->kept;
  }
  for (int32_t i = 0; i < lines->kept; i++) {
    lines->joined[i] = lines->moved[i];
  }
  lines->joined[lines->kept] = nd4c_gradient_join_extents(&lines->moved[lines->kept], count - lines->kept);
  ND4C_TRY(nd4c_emit_axes(e, ND4C_OP_transpose, x, count, lines->order, y));
  return nd4c_emit_reshape(e, *y, lines->kept + 1, lines->joined, y);
}

nd4c_status nd4c_gradient_from_lines(nd4c_emitter *e, const nd4c_gradient_lines *lines, nd4c_emitted *y) {
  ND4C_TRY(nd4c_emit_reshape(e, *y, lines->rank, lines->moved, y));
  return nd4c_emit_axes(e, ND4C_OP_transpose, *y, lines->rank, lines->back, y);
}

/* For each element of x, the product of the others over the axes: of those before it and of those behind it, so that
 * no zero divides. */
static nd4c_status multiply_others(nd4c_emitter *e, nd4c_emitted x, const nd4c_attr_value *axes, nd4c_emitted *y) {
  nd4c_gradient_lines lines;
  nd4c_emitted before = ND4C_EMITTED_NONE, behind = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_gradient_to_lines(e, x, axes, &lines, &x));
  ND4C_TRY(run_product(e, x, -1, false, true, &before));
  ND4C_TRY(run_product(e, x, -1, true, true, &behind));
  BINARY(multiply, before, behind, y);
  return nd4c_gradient_from_lines(e, &lines, y);
}

ND4C_GRADIENT(product_of_all) {
  const nd4c_attr_value *axes = &step->attrs[ND4C_ATTR_prod_axes];
  nd4c_emitted others = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit_cast(e, step->inputs[0], nd4c_emitted_get(e, step->output).dtype, &others));
  ND4C_TRY(multiply_others(e, others, axes, &others));
  ND4C_TRY(nd4c_gradient_spread(e, step, axes, gradient));
  return nd4c_emit_binary(e, ND4C_OP_multiply, *gradient, others, gradient);
}

/* -- variances ----------------------------------------------------------------------------------------------------- */

/* How many elements a reduction of x joins, as a scalar; it is computed where it depends on dims. */
static nd4c_status count_elements(nd4c_emitter *e, nd4c_emitted x, const nd4c_attr_value *axes, nd4c_emitted *count) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  double known = 1;
  for (int32_t i = 0; i < info.rank; i++) {
    const bool counts = nd4c_gradient_is_reduced(axes, info.rank, i);
    known *= counts && !nd4c_extent_is_symbolic(info.shape[i]) ? (double)info.shape[i] : 1;
  }
  ND4C_TRY(nd4c_emit_scalar_like(e, x, known, count));
  for (int32_t i = 0; i < info.rank; i++) {
    if (nd4c_gradient_is_reduced(axes, info.rank, i) && nd4c_extent_is_symbolic(info.shape[i])) {
      nd4c_emitted ones = ND4C_EMITTED_NONE;
      ND4C_TRY(nd4c_emit_full(e, info.dtype, 1, 1, &info.shape[i], &ones));
      ND4C_TRY(nd4c_emit_reduce(e, ND4C_OP_sum, ones, 0, NULL, false, &ones));
      BINARY(multiply, *count, ones, count);
    }
  }
  return ND4C_OK;
}

/* 0 where x is NaN, else y */
static nd4c_status zero_where_nan(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  nd4c_emitted left_out = ND4C_EMITTED_NONE, zero = ND4C_EMITTED_NONE;
  UNARY(is_nan, x, &left_out);
  ND4C_TRY(nd4c_emit_scalar_like(e, *y, 0, &zero));
  return nd4c_emit_where(e, left_out, zero, *y, y);
}

/* How many elements that are not NaN each reduction of x joins, in x's dtype and with its axes. */
static nd4c_status count_numbers(nd4c_emitter *e, nd4c_emitted x, const nd4c_attr_value *axes, nd4c_emitted *count) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  nd4c_emitted ones = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 1, info.rank, info.shape, &ones));
  ND4C_TRY(zero_where_nan(e, x, &ones));
  return reduce(e, ND4C_OP_sum, ones, axes, count);
}

/* The ops that leave NaN out have the attributes of the others. */
_Static_assert((int)ND4C_ATTR_nanvar_axes == (int)ND4C_ATTR_var_axes &&
                   (int)ND4C_ATTR_nanvar_correction == (int)ND4C_ATTR_var_correction &&
                   (int)ND4C_ATTR_std_axes == (int)ND4C_ATTR_var_axes &&
                   (int)ND4C_ATTR_std_correction == (int)ND4C_ATTR_var_correction &&
                   (int)ND4C_ATTR_nanstd_axes == (int)ND4C_ATTR_var_axes &&
                   (int)ND4C_ATTR_nanstd_correction == (int)ND4C_ATTR_var_correction,
               "one rule reads the attributes of all four");

/* (x - mean) / (count - correction), in a dtype that holds the count; `numbers`: of the elements that are not NaN */
static nd4c_status deviate(nd4c_emitter *e, const nd4c_gradient_step *step, bool numbers, nd4c_emitted *y) {
  const nd4c_attr_value *axes = &step->attrs[ND4C_ATTR_var_axes];
  nd4c_emitted x = step->inputs[0], mean = ND4C_EMITTED_NONE, count = ND4C_EMITTED_NONE;
  ND4C_TRY(nd4c_emit_cast(e, x, nd4c_gradient_wide(nd4c_emitted_get(e, x).dtype), &x));
  ND4C_TRY(reduce(e, numbers ? ND4C_OP_nanmean : ND4C_OP_mean, x, axes, &mean));
  ND4C_TRY((numbers ? count_numbers : count_elements)(e, x, axes, &count));
  SCALED(subtract, count, step->attrs[ND4C_ATTR_var_correction].as.f, &count);
  BINARY(subtract, x, mean, y);
  return nd4c_emit_binary(e, ND4C_OP_divide, *y, count, y);
}

/* 2 g (x - mean) / (count - correction) */
static nd4c_status give_variance(nd4c_emitter *e, const nd4c_gradient_step *step, bool numbers,
                                 nd4c_emitted *gradient) {
  nd4c_emitted part = ND4C_EMITTED_NONE;
  ND4C_TRY(deviate(e, step, numbers, &part));
  ND4C_TRY(nd4c_gradient_spread(e, step, &step->attrs[ND4C_ATTR_var_axes], gradient));
  BINARY(multiply, *gradient, part, gradient);
  SCALED(multiply, *gradient, 2, gradient);
  return numbers ? zero_where_nan(e, step->inputs[0], gradient) : ND4C_OK;
}

/* g (x - mean) / ((count - correction) y), and 0 where y is, as equal elements have no direction. */
static nd4c_status give_deviation(nd4c_emitter *e, const nd4c_gradient_step *step, bool numbers,
                                  nd4c_emitted *gradient) {
  const nd4c_attr_value *axes = &step->attrs[ND4C_ATTR_var_axes];
  nd4c_emitted part = ND4C_EMITTED_NONE, kept = ND4C_EMITTED_NONE;
  ND4C_TRY(deviate(e, step, numbers, &part));
  ND4C_TRY(nd4c_gradient_keep_axes(e, step->inputs[0], axes, step->output, &kept));
  ND4C_TRY(nd4c_gradient_spread(e, step, axes, gradient));
  BINARY(multiply, *gradient, part, gradient);
  BINARY(divide, *gradient, kept, gradient);
  ND4C_TRY(zero_where(e, kept, 0, gradient));
  return numbers ? zero_where_nan(e, step->inputs[0], gradient) : ND4C_OK;
}

ND4C_GRADIENT(variance) {
  (void)index;
  return give_variance(e, step, false, gradient);
}

ND4C_GRADIENT(deviation) {
  (void)index;
  return give_deviation(e, step, false, gradient);
}

ND4C_GRADIENT(variance_without_nan) {
  (void)index;
  return give_variance(e, step, true, gradient);
}

ND4C_GRADIENT(deviation_without_nan) {
  (void)index;
  return give_deviation(e, step, true, gradient);
}

/* -- norms --------------------------------------------------------------------------------------------------------- */

/* g times the sign of x */
static nd4c_status give_signs(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_emitted *gradient) {
  nd4c_emitted sign = ND4C_EMITTED_NONE;
  UNARY(sign, step->inputs[0], &sign);
  return nd4c_emit_binary(e, ND4C_OP_multiply, *gradient, sign, gradient);
}

/* g sign(x) (|x| / y)^(p - 1). The norm of zeros has the gradient 0, and so has an element of 0 where its slope would
 * be infinite. */
static nd4c_status raise(nd4c_emitter *e, const nd4c_gradient_step *step, double p, nd4c_emitted kept,
                         nd4c_emitted *gradient) {
  nd4c_emitted part = ND4C_EMITTED_NONE;
  UNARY(abs, step->inputs[0], &part);
  BINARY(divide, part, kept, &part);
  if (p != 2) {
    SCALED(power, part, p - 1, &part);
  }
  BINARY(multiply, *gradient, part, gradient);
  ND4C_TRY(give_signs(e, step, gradient));
  if (p < 1) {
    ND4C_TRY(zero_where(e, step->inputs[0], 0, gradient));
  }
  return zero_where(e, kept, 0, gradient);
}

static nd4c_status norm(nd4c_emitter *e, const nd4c_gradient_step *step, const nd4c_attr_value *axes, double p,
                        nd4c_emitted *gradient) {
  nd4c_emitted part = ND4C_EMITTED_NONE;
  if (isinf(p)) {
    UNARY(abs, step->inputs[0], &part);
    ND4C_TRY(nd4c_gradient_share(e, step, axes, part, gradient));
    return give_signs(e, step, gradient);
  }
  if (p == 0) { /* a number of elements */
    const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
    return nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, gradient);
  }
  ND4C_TRY(nd4c_gradient_spread(e, step, axes, gradient));
  if (p == 1) {
    return give_signs(e, step, gradient);
  }
  ND4C_TRY(nd4c_gradient_keep_axes(e, step->inputs[0], axes, step->output, &part));
  return raise(e, step, p, part, gradient);
}

#define NORM(rule, op, p)                                                   \
  ND4C_GRADIENT(rule) {                                                     \
    (void)index;                                                            \
    return norm(e, step, &step->attrs[ND4C_ATTR_##op##_axes], p, gradient); \
  }
NORM(sum_of_sizes, norm1, 1)
NORM(length, norm2, 2)
NORM(largest_size, norm_max, INFINITY)
NORM(least_size, abs_min, -INFINITY)
NORM(norm_p, norm_p, step->attrs[ND4C_ATTR_norm_p_p].as.f)
NORM(vector_norm, vector_norm, step->attrs[ND4C_ATTR_vector_norm_ord].as.f)

/* 2 g x */
ND4C_GRADIENT(sum_of_squares) {
  (void)index;
  ND4C_TRY(nd4c_gradient_spread(e, step, &step->attrs[ND4C_ATTR_sum_square_axes], gradient));
  BINARY(multiply, *gradient, step->inputs[0], gradient);
  return nd4c_emit_with_scalar(e, ND4C_OP_multiply, *gradient, 2, gradient);
}

ND4C_GRADIENT(mean_of_sizes) {
  nd4c_emitted count = ND4C_EMITTED_NONE;
  const nd4c_attr_value *axes = &step->attrs[ND4C_ATTR_abs_mean_axes];
  (void)index;
  ND4C_TRY(count_elements(e, step->inputs[0], axes, &count));
  ND4C_TRY(nd4c_gradient_spread(e, step, axes, gradient));
  BINARY(divide, *gradient, count, gradient);
  return give_signs(e, step, gradient);
}

/* g e^(x - y); e^x is 0 where the sum is. */
ND4C_GRADIENT(logarithm_of_exponentials) {
  const nd4c_attr_value *axes = &step->attrs[ND4C_ATTR_logsumexp_axes];
  nd4c_emitted kept = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nd4c_gradient_keep_axes(e, step->inputs[0], axes, step->output, &kept));
  ND4C_TRY(zero_where(e, kept, -INFINITY, &kept));
  BINARY(subtract, step->inputs[0], kept, &kept);
  UNARY(exp, kept, &kept);
  ND4C_TRY(nd4c_gradient_spread(e, step, axes, gradient));
  return nd4c_emit_binary(e, ND4C_OP_multiply, *gradient, kept, gradient);
}

ND4C_GRADIENT(sum_without_nan) {
  (void)index;
  ND4C_TRY(nd4c_gradient_spread(e, step, &step->attrs[ND4C_ATTR_nansum_axes], gradient));
  return zero_where_nan(e, step->inputs[0], gradient);
}

/* g / count, where x is a number */
ND4C_GRADIENT(mean_without_nan) {
  const nd4c_attr_value *axes = &step->attrs[ND4C_ATTR_nanmean_axes];
  nd4c_emitted x = ND4C_EMITTED_NONE, count = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit_cast(e, step->inputs[0], nd4c_gradient_wide(nd4c_emitted_get(e, step->inputs[0]).dtype), &x));
  ND4C_TRY(count_numbers(e, x, axes, &count));
  ND4C_TRY(nd4c_gradient_spread(e, step, axes, gradient));
  BINARY(divide, *gradient, count, gradient);
  return zero_where_nan(e, x, gradient);
}

/* What the largest elements are given, less what the smallest are. */
ND4C_GRADIENT(spread) {
  const nd4c_attr_value *axes = &step->attrs[ND4C_ATTR_ptp_axes];
  nd4c_gradient_step end = *step;
  nd4c_emitted least = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(reduce(e, ND4C_OP_min, step->inputs[0], axes, &end.output));
  ND4C_TRY(nd4c_gradient_share(e, &end, axes, step->inputs[0], &least));
  ND4C_TRY(reduce(e, ND4C_OP_max, step->inputs[0], axes, &end.output));
  ND4C_TRY(nd4c_gradient_share(e, &end, axes, step->inputs[0], gradient));
  return nd4c_emit_binary(e, ND4C_OP_subtract, *gradient, least, gradient);
}

/* -- along an axis ------------------------------------------------------------------------------------------------- */

/* g without that of the initial value, which stands first or, in reverse, last. */
static nd4c_status leave_initial(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_emitted *given) {
  const int64_t axis = step->attrs[ND4C_ATTR_cumulative_sum_axis].as.i;
  const bool last = step->attrs[ND4C_ATTR_cumulative_sum_reverse].as.i != 0;
  *given = step->given;
  return step->attrs[ND4C_ATTR_cumulative_sum_include_initial].as.i == 0
             ? ND4C_OK
             : nd4c_emit_slice(e, step->given, axis, last ? 0 : 1, last ? -1 : INT64_MAX, 1, given);
}

/* Sums of x from where the op ended. */
static nd4c_status sum_back(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_emitted x, nd4c_emitted *y) {
  const nd4c_attr attrs[] = {{"axis", step->attrs[ND4C_ATTR_cumulative_sum_axis]},
                             {"exclusive", step->attrs[ND4C_ATTR_cumulative_sum_exclusive]},
                             nd4c_attr_of_bool("reverse", step->attrs[ND4C_ATTR_cumulative_sum_reverse].as.i == 0)};
  return nd4c_emit(e, ND4C_OP_cumulative_sum, &x, 1, attrs, 3, y);
}

ND4C_GRADIENT(running_sum) {
  (void)index;
  ND4C_TRY(leave_initial(e, step, gradient));
  return sum_back(e, step, *gradient, gradient);
}

/* How many zeros of x each element has at and before it. */
static nd4c_status count_zeros(nd4c_emitter *e, nd4c_emitted x, int64_t axis, bool reverse, nd4c_emitted *zero,
                               nd4c_emitted *count) {
  const nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_bool("reverse", reverse)};
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_equal, x, 0, zero));
  ND4C_TRY(nd4c_emit_cast(e, *zero, ND4C_INT64, count));
  return nd4c_emit(e, ND4C_OP_cumulative_sum, count, 1, attrs, 2, count);
}

/* The sums of g y over what each product has behind it, where y are the running products of x. */
static nd4c_status sum_products(nd4c_emitter *e, const nd4c_gradient_step *step, nd4c_emitted given, nd4c_emitted x,
                                nd4c_emitted *y) {
  ND4C_TRY(run_product(e, x, step->attrs[ND4C_ATTR_cumulative_prod_axis].as.i,
                       step->attrs[ND4C_ATTR_cumulative_prod_reverse].as.i != 0,
                       step->attrs[ND4C_ATTR_cumulative_prod_exclusive].as.i != 0, y));
  BINARY(multiply, given, *y, y);
  return sum_back(e, step, *y, y);
}

/* An element is a factor of the products from it on: the sum of g y over these, divided by the element. That holds in
 * front of the first zero. The first zero itself has the sum of the products with 1 in its place, and behind it all
 * products are 0 whatever an element is. */
ND4C_GRADIENT(running_product) {
  nd4c_emitted x = step->inputs[0], given = ND4C_EMITTED_NONE, zero = ND4C_EMITTED_NONE, count = ND4C_EMITTED_NONE,
               first = ND4C_EMITTED_NONE, one = ND4C_EMITTED_NONE, nothing = ND4C_EMITTED_NONE,
               without = ND4C_EMITTED_NONE, part = ND4C_EMITTED_NONE;
  (void)index;
  ND4C_TRY(nd4c_emit_cast(e, x, nd4c_emitted_get(e, step->output).dtype, &x));
  ND4C_TRY(leave_initial(e, step, &given));
  ND4C_TRY(count_zeros(e, x, step->attrs[ND4C_ATTR_cumulative_prod_axis].as.i,
                       step->attrs[ND4C_ATTR_cumulative_prod_reverse].as.i != 0, &zero, &count));
  SCALED(equal, count, 1, &first);
  BINARY(logical_and, zero, first, &first);
  ND4C_TRY(nd4c_emit_scalar_like(e, x, 1, &one));
  ND4C_TRY(nd4c_emit_scalar_like(e, x, 0, &nothing));
  ND4C_TRY(nd4c_emit_where(e, first, one, x, &without));
  ND4C_TRY(sum_products(e, step, given, without, &part));
  ND4C_TRY(nd4c_emit_where(e, first, part, nothing, &part));
  ND4C_TRY(sum_products(e, step, given, x, gradient));
  BINARY(divide, *gradient, x, gradient);
  SCALED(equal, count, 0, &first);
  return nd4c_emit_where(e, first, *gradient, part, gradient);
}

/* Zeros in front of g along an axis, less zeros behind it, as often as differences were taken. */
static nd4c_status undo_differences(nd4c_emitter *e, int64_t axis, int64_t order, nd4c_emitted *gradient) {
  const int64_t front[] = {1, 0}, behind[] = {0, 1};
  for (int64_t i = 0; i < order; i++) {
    const nd4c_attr first[] = {nd4c_attr_of_ints("pads", front, 2), nd4c_attr_of_ints("axes", &axis, 1)},
                    second[] = {nd4c_attr_of_ints("pads", behind, 2), nd4c_attr_of_ints("axes", &axis, 1)};
    nd4c_emitted before = ND4C_EMITTED_NONE, after = ND4C_EMITTED_NONE;
    ND4C_TRY(nd4c_emit(e, ND4C_OP_pad, gradient, 1, first, 2, &before));
    ND4C_TRY(nd4c_emit(e, ND4C_OP_pad, gradient, 1, second, 2, &after));
    BINARY(subtract, before, after, gradient);
  }
  return ND4C_OK;
}

/* Where the input begins in the joined array, whose length is *length: prepend stands in front of x, append behind. */
static nd4c_status find_part(nd4c_emitter *e, const nd4c_gradient_step *step, int32_t index, int64_t axis,
                             int64_t *begin, int64_t *length) {
  const int32_t order[] = {ND4C_IN_diff_prepend, 0, ND4C_IN_diff_append};
  *begin = *length = 0;
  for (int32_t i = 0; i < 3; i++) {
    const nd4c_emitted part = nd4c_gradient_input(step, order[i]);
    const int64_t extent = part == ND4C_EMITTED_NONE ? 0 : nd4c_emitted_get(e, part).shape[axis];
    if (nd4c_extent_is_symbolic(extent)) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of differences needs numbers along their axis");
    }
    *begin = order[i] == index ? *length : *begin;
    *length += extent;
  }
  return ND4C_OK;
}

/* The part of the joined array's gradient that the input is. */
ND4C_GRADIENT(differences) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[index]);
  const int64_t named = step->attrs[ND4C_ATTR_diff_axis].as.i, axis = named < 0 ? named + info.rank : named,
                order = step->attrs[ND4C_ATTR_diff_order].as.i;
  int64_t begin = 0, length = 0;
  ND4C_TRY(find_part(e, step, index, axis, &begin, &length));
  if (order >= length) { /* nothing is left */
    return nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, gradient);
  }
  if (order > 64) {
    return nd4c_fail(ND4C_UNSUPPORTED, "differences of an order above 64 have no gradient");
  }
  *gradient = step->given;
  ND4C_TRY(undo_differences(e, axis, order, gradient));
  return length == info.shape[axis] ? ND4C_OK
                                    : nd4c_emit_slice(e, *gradient, axis, begin, begin + info.shape[axis], 1, gradient);
}

const nd4c_gradient_row nd4c_gradient_statistics[] = {ND4C_GRADIENT_STATISTICS(ROW){ND4C_OP_NONE, NULL}};
