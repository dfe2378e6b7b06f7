/* Inference rules of sorting, searching, sets and histograms (op_table/sorting.h). nd4c_op_infer (infer.c) calls the
 * rule that an op's row names. */
#include <math.h>

#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"
#include "ops/infer/rules.h"

static void output_1d(nd4c_inference *inference, int32_t position, nd4c_dtype dtype, int64_t length) {
  nd4c_rule_output_at(inference, position, dtype, 1, &length);
}

/* -- nonzero ----------------------------------------------------------------------------------------------------- */

/* Gives: int64 [axes of x, elements that are not zero]; a scalar counts as one axis. The length depends on the data. */
nd4c_status nd4c_infer_nonzero(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t shape[2] = {x->rank > 0 ? x->rank : 1, x->size};
  nd4c_rule_output(inference, ND4C_INT64, 2, shape);
  inference->outputs[0].shape_depends_on_data = true;
  return ND4C_OK;
}

/* Gives: int64 [elements that are not zero, axes of x]. The length depends on the data. */
nd4c_status nd4c_infer_argwhere(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t shape[2] = {x->size, x->rank};
  nd4c_rule_output(inference, ND4C_INT64, 2, shape);
  inference->outputs[0].shape_depends_on_data = true;
  return ND4C_OK;
}

/* -- sorting ----------------------------------------------------------------------------------------------------- */

static nd4c_status sorted_like(nd4c_inference *inference, nd4c_dtype dtype) {
  const nd4c_tensor *x = &inference->inputs[0];
  int32_t axis;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_sort_axis].as.i, x->rank, &axis));
  nd4c_rule_output(inference, dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_sort(nd4c_inference *inference) {
  return sorted_like(inference, inference->inputs[0].dtype);
}

/* Gives: int64, in x's shape. */
nd4c_status nd4c_infer_argsort(nd4c_inference *inference) {
  return sorted_like(inference, ND4C_INT64);
}

/* Gives: int64, in the shape of the keys, which must all have the same. */
nd4c_status nd4c_infer_lexsort(nd4c_inference *inference) {
  const nd4c_tensor *first = &inference->inputs[0];
  int32_t axis;
  for (int32_t i = 1; i < inference->input_count; i++) {
    ND4C_TRY(nd4c_rule_accepted_dtype(inference, i));
    ND4C_TRY(nd4c_rule_expect_shape(inference, i, first->rank, first->shape, "the shape of all keys"));
  }
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_lexsort_axis].as.i, first->rank, &axis));
  nd4c_rule_output(inference, ND4C_INT64, first->rank, first->shape);
  return ND4C_OK;
}

/* Gives: x's shape with k on the axis; y in x's dtype, indices int64. */
nd4c_status nd4c_infer_top_k(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t k = inference->attrs[ND4C_ATTR_top_k_k].as.i;
  int32_t axis;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_top_k_axis].as.i, x->rank, &axis));
  if ((k < 0 && !nd4c_extents_has(inference->extents, k)) || !nd4c_rule_is_at_least(inference, x->shape[axis], k)) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "k is %lld, expected 0 to %lld, the length of axis %d",
                            (long long)k, (long long)x->shape[axis], (int)axis);
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  nd4c_rule_output_at(inference, 1, ND4C_INT64, x->rank, x->shape);
  inference->outputs[0].shape[axis] = k;
  inference->outputs[1].shape[axis] = k;
  return ND4C_OK;
}

/* Gives: x's shape without the axis (keepdims: with 1 in its place); y in x's dtype, indices int64. */
nd4c_status nd4c_infer_kth_value(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t k = inference->attrs[ND4C_ATTR_kth_value_k].as.i, shape[ND4C_MAX_RANK];
  bool keepdims = inference->attrs[ND4C_ATTR_kth_value_keepdims].as.i != 0;
  int32_t axis, rank = 0;
  ND4C_TRY(nd4c_rule_axis(inference, "axis", inference->attrs[ND4C_ATTR_kth_value_axis].as.i, x->rank, &axis));
  if (k < 0 || k == INT64_MAX || !nd4c_rule_is_at_least(inference, x->shape[axis], k + 1)) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "k is %lld, expected 0 to %lld", (long long)k,
                            (long long)x->shape[axis] - 1);
  }
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != axis || keepdims) {
      shape[rank++] = i == axis ? 1 : x->shape[i];
    }
  }
  nd4c_rule_output(inference, x->dtype, rank, shape);
  nd4c_rule_output_at(inference, 1, ND4C_INT64, rank, shape);
  return ND4C_OK;
}

/* -- sets -------------------------------------------------------------------------------------------------------- */

static void unknown_length(nd4c_inference *inference, int32_t position, nd4c_dtype dtype, int64_t most) {
  output_1d(inference, position, dtype, most);
  inference->outputs[position].shape_depends_on_data = true;
}

/* Gives: a vector in x's dtype; the length depends on the data. */
nd4c_status nd4c_infer_unique_values(nd4c_inference *inference) {
  unknown_length(inference, 0, inference->inputs[0].dtype, inference->inputs[0].size);
  return ND4C_OK;
}

/* Gives: values: a vector in x's dtype; counts: an int64 vector. The length depends on the data. */
nd4c_status nd4c_infer_unique_counts(nd4c_inference *inference) {
  unknown_length(inference, 1, ND4C_INT64, inference->inputs[0].size);
  return nd4c_infer_unique_values(inference);
}

/* Gives: values: a vector in x's dtype, whose length depends on the data; inverse_indices: int64, in x's shape. */
nd4c_status nd4c_infer_unique_inverse(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  nd4c_rule_output_at(inference, 1, ND4C_INT64, x->rank, x->shape);
  return nd4c_infer_unique_values(inference);
}

/* Gives: values: a vector in x's dtype; indices and counts: int64 vectors; the length of the three depends on the
 * data. inverse_indices: int64, in x's shape. */
nd4c_status nd4c_infer_unique_all(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  unknown_length(inference, 1, ND4C_INT64, x->size);
  nd4c_rule_output_at(inference, 2, ND4C_INT64, x->rank, x->shape);
  unknown_length(inference, 3, ND4C_INT64, x->size);
  return nd4c_infer_unique_values(inference);
}

/* Gives: values: x with fewer elements on the axis, in x's dtype, or a vector without axis; indices and counts: int64
 * vectors of that length, which depends on the data; inverse_indices: an int64 vector as long as the axis or, without
 * axis, as long as x has elements. */
nd4c_status nd4c_infer_unique(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *given = &inference->attrs[ND4C_ATTR_unique_axis];
  int64_t count = x->size;
  int32_t axis = 0;
  if (given->count > 1) {
    return nd4c_fail(ND4C_ARGUMENT, "unique: axis has %d values, expected one or none", (int)given->count);
  }
  if (given->count == 1) {
    ND4C_TRY(nd4c_rule_axis(inference, "axis", given->as.ints[0], x->rank, &axis));
    count = x->shape[axis];
    nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
    inference->outputs[0].shape_depends_on_data = true;
  } else {
    unknown_length(inference, 0, x->dtype, count);
  }
  unknown_length(inference, 1, ND4C_INT64, count);
  output_1d(inference, 2, ND4C_INT64, count);
  unknown_length(inference, 3, ND4C_INT64, count);
  return ND4C_OK;
}

static nd4c_status both_sizes(const nd4c_inference *inference, int64_t *size) {
  if (!nd4c_rule_add(inference, inference->inputs[0].size, inference->inputs[1].size, size)) {
    return nd4c_rule_refuse(inference, 1, ND4C_OVERFLOW, "expected fewer elements: both together do not fit 64 bits");
  }
  return ND4C_OK;
}

/* Gives: a vector in the dtype of the inputs, which must be the same; the length depends on the data. */
nd4c_status nd4c_infer_union1d(nd4c_inference *inference) {
  int64_t size;
  ND4C_TRY(nd4c_rule_same_dtype(inference, 1));
  ND4C_TRY(both_sizes(inference, &size));
  unknown_length(inference, 0, inference->inputs[0].dtype, size);
  return ND4C_OK;
}

/* Gives: a vector in the dtype of the inputs, which must be the same; the length depends on the data. */
nd4c_status nd4c_infer_intersect1d(nd4c_inference *inference) {
  const nd4c_tensor *a = &inference->inputs[0], *b = &inference->inputs[1];
  ND4C_TRY(nd4c_infer_union1d(inference));
  inference->outputs[0].shape[0] = a->size < b->size ? a->size : b->size;
  return ND4C_OK;
}

/* Gives: a vector in the dtype of the inputs, which must be the same; the length depends on the data. */
nd4c_status nd4c_infer_setdiff1d(nd4c_inference *inference) {
  ND4C_TRY(nd4c_infer_union1d(inference));
  inference->outputs[0].shape[0] = inference->inputs[0].size;
  return ND4C_OK;
}

/* Gives: bool, in x's shape. elements has x's dtype. */
nd4c_status nd4c_infer_isin(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t size;
  ND4C_TRY(nd4c_rule_same_dtype(inference, 1));
  ND4C_TRY(both_sizes(inference, &size));
  nd4c_rule_output(inference, ND4C_BOOL, x->rank, x->shape);
  return ND4C_OK;
}

/* -- searching --------------------------------------------------------------------------------------------------- */

static nd4c_status require_rank(const nd4c_inference *inference, int32_t position, int32_t rank) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  return tensor == NULL || tensor->rank == rank
             ? ND4C_OK
             : nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected %d axes", (int)rank);
}

static nd4c_status require_integer(const nd4c_inference *inference, int32_t position) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  nd4c_dtype_kind kind = tensor == NULL ? ND4C_KIND_INT : nd4c_dtype_get_info(tensor->dtype)->kind;
  return kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT
             ? ND4C_OK
             : nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected an integer dtype");
}

static nd4c_status require_floating(const nd4c_inference *inference, int32_t position) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  return tensor == NULL || nd4c_dtype_get_info(tensor->dtype)->kind == ND4C_KIND_FLOAT
             ? ND4C_OK
             : nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected a real floating dtype");
}

/* Refuses an input of another shape than the first. Inputs left out pass. */
static nd4c_status require_same_shape(const nd4c_inference *inference, int32_t position) {
  const nd4c_tensor *x = &inference->inputs[0], *tensor = nd4c_rule_input(inference, position);
  return tensor == NULL || nd4c_rule_same_shape(inference, tensor->rank, tensor->shape, x->rank, x->shape)
             ? ND4C_OK
             : nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected the shape of input %s",
                                inference->op->inputs[0].name);
}

/* Gives: int64, in the shape of values. values has x's dtype. */
nd4c_status nd4c_infer_searchsorted(nd4c_inference *inference) {
  const nd4c_tensor *values = &inference->inputs[1];
  ND4C_TRY(require_rank(inference, 0, 1));
  ND4C_TRY(nd4c_rule_same_dtype(inference, 1));
  ND4C_TRY(require_integer(inference, ND4C_IN_searchsorted_sorter));
  ND4C_TRY(require_same_shape(inference, ND4C_IN_searchsorted_sorter));
  nd4c_rule_output(inference, ND4C_INT64, values->rank, values->shape);
  return ND4C_OK;
}

/* Gives: int64, in x's shape. bins has x's dtype. */
nd4c_status nd4c_infer_digitize(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(require_rank(inference, ND4C_IN_digitize_bins, 1));
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_digitize_bins));
  nd4c_rule_output(inference, ND4C_INT64, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: a bool scalar. */
nd4c_status nd4c_infer_is_ordered(nd4c_inference *inference) {
  nd4c_rule_output(inference, ND4C_BOOL, 0, NULL);
  return ND4C_OK;
}

/* Gives: bool, in the shape of targets [n], for predictions [n, classes]. */
nd4c_status nd4c_infer_in_top_k(nd4c_inference *inference) {
  const nd4c_tensor *predictions = &inference->inputs[0], *targets = &inference->inputs[1];
  int64_t k = inference->attrs[ND4C_ATTR_in_top_k_k].as.i;
  ND4C_TRY(require_rank(inference, 0, 2));
  ND4C_TRY(require_rank(inference, 1, 1));
  ND4C_TRY(require_integer(inference, 1));
  if (!nd4c_rule_is_equal(inference, targets->shape[0], predictions->shape[0])) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected one target for each of %lld rows of predictions",
                            (long long)predictions->shape[0]);
  }
  if (k < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "in_top_k: k is %lld, expected at least 0", (long long)k);
  }
  nd4c_rule_output(inference, ND4C_BOOL, 1, targets->shape);
  return ND4C_OK;
}

/* -- histograms -------------------------------------------------------------------------------------------------- */

enum { MOST_BINS = 1 << 28 };

static nd4c_status check_bins(const nd4c_inference *inference, int64_t bins) {
  if (bins >= 1 && bins <= MOST_BINS) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_ARGUMENT, "%s: bins is %lld, expected 1 to %d", inference->op->name, (long long)bins,
                   (int)MOST_BINS);
}

static nd4c_status check_range(const nd4c_inference *inference, double low, double high) {
  if (isfinite(low) && isfinite(high) && low <= high && isfinite(high - low)) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_ARGUMENT, "%s: range is %g to %g, expected finite numbers in ascending order",
                   inference->op->name, low, high);
}

static nd4c_status check_range_list(const nd4c_inference *inference, const nd4c_attr_value *range) {
  if (range->count != 0 && range->count != 2) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: range has %d numbers, expected none or two", inference->op->name,
                     (int)range->count);
  }
  return range->count == 0 ? ND4C_OK : check_range(inference, range->as.floats[0], range->as.floats[1]);
}

static nd4c_dtype edge_dtype(nd4c_dtype dtype) {
  return nd4c_dtype_get_info(dtype)->kind == ND4C_KIND_FLOAT ? dtype : (nd4c_dtype)ND4C_FLOAT64;
}

/* Gives: histogram: a vector of bins elements, float64 with density, else the dtype of weights, or int64 without
 * weights; bin_edges: bins + 1 elements, in x's dtype, or float64 for integers. With the input edges there is one bin
 * fewer than edges. */
nd4c_status nd4c_infer_histogram(nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  const nd4c_tensor *edges = nd4c_rule_input(inference, ND4C_IN_histogram_edges);
  const nd4c_tensor *weights = nd4c_rule_input(inference, ND4C_IN_histogram_weights);
  nd4c_dtype dtype = edge_dtype(inference->inputs[0].dtype);
  int64_t bins = attrs[ND4C_ATTR_histogram_bins].as.i;
  ND4C_TRY(require_floating(inference, ND4C_IN_histogram_weights));
  ND4C_TRY(require_same_shape(inference, ND4C_IN_histogram_weights));
  ND4C_TRY(require_rank(inference, ND4C_IN_histogram_edges, 1));
  if (edges != NULL && (edges->dtype != dtype || !nd4c_rule_is_at_least(inference, edges->shape[0], 1))) {
    return nd4c_rule_refuse(inference, ND4C_IN_histogram_edges, edges->dtype != dtype ? ND4C_DTYPE : ND4C_SHAPE,
                            "expected %s, at least one", nd4c_dtype_name(dtype));
  }
  if (edges == NULL) {
    ND4C_TRY(check_bins(inference, bins));
    ND4C_TRY(check_range_list(inference, &attrs[ND4C_ATTR_histogram_range]));
  }
  int64_t count = bins + 1;
  if (edges != NULL) {
    count = edges->shape[0];
    (void)nd4c_rule_subtract(inference, count, 1, &bins); /* there is at least one */
  }
  bool density = attrs[ND4C_ATTR_histogram_density].as.i != 0;
  output_1d(inference, 0,
            density           ? (nd4c_dtype)ND4C_FLOAT64
            : weights != NULL ? weights->dtype
                              : (nd4c_dtype)ND4C_INT64,
            bins);
  output_1d(inference, 1, dtype, count);
  return ND4C_OK;
}

/* Gives: a vector of bins + 1 elements, in x's dtype, or float64 for integers. */
nd4c_status nd4c_infer_bin_edges(nd4c_inference *inference) {
  int64_t bins = inference->attrs[ND4C_ATTR_histogram_bin_edges_bins].as.i;
  ND4C_TRY(check_bins(inference, bins));
  ND4C_TRY(check_range_list(inference, &inference->attrs[ND4C_ATTR_histogram_bin_edges_range]));
  output_1d(inference, 0, edge_dtype(inference->inputs[0].dtype), bins + 1);
  return ND4C_OK;
}

/* Gives: int64 [bins]. */
nd4c_status nd4c_infer_fixed_width(nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  double low = attrs[ND4C_ATTR_histogram_fixed_width_low].as.f;
  double high = attrs[ND4C_ATTR_histogram_fixed_width_high].as.f;
  int64_t bins = attrs[ND4C_ATTR_histogram_fixed_width_bins].as.i;
  ND4C_TRY(check_bins(inference, bins));
  ND4C_TRY(check_range(inference, low, high));
  if (low == high) {
    return nd4c_fail(ND4C_ARGUMENT, "histogram_fixed_width: low and high are both %g, expected low < high", low);
  }
  output_1d(inference, 0, ND4C_INT64, bins);
  return ND4C_OK;
}

/* Gives: a vector in the dtype of weights, or int64 without weights. Its length depends on the data; it is at least
 * minlength and at most maxlength. */
nd4c_status nd4c_infer_bincount(nd4c_inference *inference) {
  const nd4c_tensor *weights = nd4c_rule_input(inference, ND4C_IN_bincount_weights);
  int64_t least = inference->attrs[ND4C_ATTR_bincount_minlength].as.i;
  int64_t most = inference->attrs[ND4C_ATTR_bincount_maxlength].as.i;
  ND4C_TRY(require_floating(inference, ND4C_IN_bincount_weights));
  ND4C_TRY(require_same_shape(inference, ND4C_IN_bincount_weights));
  if (least < 0 || most < least) {
    return nd4c_fail(ND4C_ARGUMENT,
                     "bincount: minlength is %lld and maxlength %lld, expected 0 <= minlength <= "
                     "maxlength",
                     (long long)least, (long long)most);
  }
  output_1d(inference, 0, weights != NULL ? weights->dtype : (nd4c_dtype)ND4C_INT64, most);
  inference->outputs[0].shape_depends_on_data = most > least;
  return ND4C_OK;
}

/* Gives: [classes, classes], in the dtype of weights, or int64 without weights. predictions and weights have the shape
 * of labels. */
nd4c_status nd4c_infer_confusion_matrix(nd4c_inference *inference) {
  enum { MOST_CLASSES = 1 << 24 };
  const nd4c_tensor *weights = nd4c_rule_input(inference, ND4C_IN_confusion_matrix_weights);
  int64_t classes = inference->attrs[ND4C_ATTR_confusion_matrix_classes].as.i;
  int64_t shape[2] = {classes, classes};
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_confusion_matrix_predictions));
  ND4C_TRY(require_same_shape(inference, ND4C_IN_confusion_matrix_predictions));
  ND4C_TRY(require_floating(inference, ND4C_IN_confusion_matrix_weights));
  ND4C_TRY(require_same_shape(inference, ND4C_IN_confusion_matrix_weights));
  if (classes < 1 || classes > MOST_CLASSES) {
    return nd4c_fail(ND4C_ARGUMENT, "confusion_matrix: classes is %lld, expected 1 to %d", (long long)classes,
                     (int)MOST_CLASSES);
  }
  nd4c_rule_output(inference, weights != NULL ? weights->dtype : (nd4c_dtype)ND4C_INT64, 2, shape);
  return ND4C_OK;
}
