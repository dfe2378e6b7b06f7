/* Engine reference: places in sorted rows, bins, counts. All operands are read and checked before anything is written.
 * dispatch/choice.c asks these kernels last, after those of all other engines. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "kernels/reference/sorting/sets.h"

/* -- rows in C order ---------------------------------------------------------------------------------------------- */

/* The elements of an input as they are. */
static char *load_raw(nd4c_cpu_work *work, int32_t input) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(work->call, input);
  char *raw = (char *)nd4c_cpu_work_make_integers(work, 2 * work->call->inputs[input].size);
  if (raw != NULL) {
    nd4c_ref_flatten(&x, raw);
  }
  return raw;
}

/* Keys that compare as they do. */
static uint64_t *load_keys(nd4c_cpu_work *work, int32_t input) {
  const nd4c_tensor *x = &work->call->inputs[input];
  const char *raw = load_raw(work, input);
  uint64_t *keys = (uint64_t *)nd4c_cpu_work_make_integers(work, x->size);
  if (!work->failed) {
    nd4c_ref_keys(x->dtype, raw, 0, 1, x->size, keys);
  }
  return keys;
}

/* -- searching ---------------------------------------------------------------------------------------------------- */

/* The places of an input's elements among keys. */
static nd4c_status search_all(nd4c_cpu_work *work, int32_t input, const uint64_t *keys, int64_t count, bool after,
                              bool downwards) {
  const uint64_t *wanted = load_keys(work, input);
  int64_t *places = nd4c_cpu_work_output_integers(work, 0);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t i = 0; i < work->call->inputs[input].size; i++) {
    int64_t place = nd4c_ref_search(keys, count, wanted[i], after);
    places[i] = downwards ? count - place : place;
  }
  return ND4C_OK;
}

/* With a sorter the keys are taken in its order. */
static nd4c_status searchsorted(const nd4c_call *call, nd4c_cpu_work *work) {
  int64_t count = call->inputs[0].size;
  const uint64_t *keys = load_keys(work, 0);
  const int64_t *sorter = nd4c_cpu_work_load_integers(work, ND4C_IN_searchsorted_sorter);
  uint64_t *row = (uint64_t *)nd4c_cpu_work_make_integers(work, count);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t i = 0; i < count; i++) {
    ND4C_CPU_FAIL_IF(sorter != NULL && (sorter[i] < 0 || sorter[i] >= count), ND4C_INDEX,
                     "searchsorted: sorter[%lld] is %lld, expected 0 to %lld", (long long)i, (long long)sorter[i],
                     (long long)count - 1);
    row[i] = keys[sorter != NULL ? sorter[i] : i];
  }
  return search_all(work, 1, row, count, ND4C_FLAG_OF(call, searchsorted_right), false);
}

static nd4c_status digitize(const nd4c_call *call, nd4c_cpu_work *work) {
  int64_t count = call->inputs[ND4C_IN_digitize_bins].size;
  uint64_t *row = load_keys(work, ND4C_IN_digitize_bins);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  int direction = nd4c_ref_direction(row, count);
  for (int64_t i = 0; direction < 0 && i < count / 2; i++) {
    uint64_t swap = row[i];
    row[i] = row[count - 1 - i];
    row[count - 1 - i] = swap;
  }
  return direction == 0 ? nd4c_cpu_host->fail(ND4C_ARGUMENT, "digitize: bins neither ascend nor descend")
                        : search_all(work, 0, row, count, !ND4C_FLAG_OF(call, digitize_right), direction < 0);
}

static nd4c_status is_ordered(const nd4c_call *call, nd4c_cpu_work *work, bool strict) {
  const nd4c_tensor *x = &call->inputs[0];
  const char *raw = load_raw(work, 0);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  *(uint8_t *)call->outputs[0].data = nd4c_ref_is_ordered(x->dtype, raw, x->size, strict);
  return ND4C_OK;
}

static nd4c_status in_top_k(const nd4c_call *call, nd4c_cpu_work *work) {
  int64_t k = ND4C_INT_OF(call, in_top_k_k), classes = call->inputs[0].shape[1];
  const double *x = nd4c_cpu_work_load(work, 0);
  const int64_t *targets = nd4c_cpu_work_load_integers(work, 1);
  int64_t *y = nd4c_cpu_work_output_integers(work, 0);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t row = 0; row < call->inputs[0].shape[0]; row++, x += classes) {
    int64_t target = targets[row], greater = 0;
    bool known = target >= 0 && target < classes;
    for (int64_t i = 0; known && i < classes; i++) {
      greater += x[i] > x[target];
    }
    y[row] = known && isfinite(x[target]) && greater < k;
  }
  return ND4C_OK;
}

/* -- bins --------------------------------------------------------------------------------------------------------- */

/* Edges from the range given, or that of the elements. */
static nd4c_status make_edges(const nd4c_call *call, const nd4c_attr_value *range, const double *x, int64_t bins,
                              nd4c_dtype dtype, double *edges) {
  double low = 0, high = 0;
  if (range->count == 2) {
    low = range->as.floats[0];
    high = range->as.floats[1];
  } else if (!nd4c_ref_find_limits(x, call->inputs[0].size, &low, &high)) {
    return nd4c_cpu_host->fail(ND4C_ARGUMENT,
                               "%s: x has a NaN or infinite extent: expected finite elements, or the attribute range",
                               call->op->name);
  }
  nd4c_ref_bin_edges(low, high, bins, dtype, edges);
  return ND4C_OK;
}

static nd4c_status histogram_bin_edges(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *y = &call->outputs[0];
  const double *x = nd4c_cpu_work_load(work, 0);
  double *edges = nd4c_cpu_work_output(work, 0);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  return make_edges(call, &call->attrs[ND4C_ATTR_histogram_bin_edges_range], x, y->shape[0] - 1, y->dtype, edges);
}

static nd4c_status check_edges(const double *edges, int64_t bins) {
  for (int64_t i = 0; i <= bins; i++) {
    ND4C_CPU_FAIL_IF(edges[i] != edges[i] || (i > 0 && edges[i] < edges[i - 1]), ND4C_ARGUMENT,
                     "histogram: edges[%lld] is %g, expected ascending numbers", (long long)i, edges[i]);
  }
  return ND4C_OK;
}

/* Sums of doubles: counts stay exact up to 2^53. */
static nd4c_status histogram(const nd4c_call *call, nd4c_cpu_work *work) {
  int64_t bins = call->outputs[0].shape[0];
  const double *x = nd4c_cpu_work_load(work, 0), *weights = nd4c_cpu_work_load(work, ND4C_IN_histogram_weights);
  const double *given = nd4c_cpu_work_load(work, ND4C_IN_histogram_edges);
  double *totals = nd4c_cpu_work_output(work, 0), *edges = nd4c_cpu_work_output(work, 1), sum = 0;
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  if (given != NULL) {
    ND4C_BACKEND_TRY(check_edges(given, bins));
    memcpy(edges, given, (size_t)(bins + 1) * sizeof *edges);
  } else {
    const nd4c_attr_value *range = &call->attrs[ND4C_ATTR_histogram_range];
    ND4C_BACKEND_TRY(make_edges(call, range, x, bins, call->outputs[1].dtype, edges));
  }
  for (int64_t i = 0; i < call->inputs[0].size; i++) {
    int64_t bin = nd4c_ref_bin(edges, bins, x[i]);
    if (bin >= 0) {
      totals[bin] += weights != NULL ? weights[i] : 1;
    }
  }
  for (int64_t bin = 0; bin < bins; bin++) {
    sum += totals[bin];
  }
  for (int64_t bin = 0; ND4C_FLAG_OF(call, histogram_density) && bin < bins; bin++) {
    totals[bin] = totals[bin] / (edges[bin + 1] - edges[bin]) / sum;
  }
  return ND4C_OK;
}

static nd4c_status histogram_fixed_width(const nd4c_call *call, nd4c_cpu_work *work) {
  double low = ND4C_REAL_OF(call, histogram_fixed_width_low), high = ND4C_REAL_OF(call, histogram_fixed_width_high);
  int64_t bins = call->outputs[0].shape[0];
  const double *x = nd4c_cpu_work_load(work, 0);
  double *counts = nd4c_cpu_work_output(work, 0);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int64_t i = 0; i < call->inputs[0].size; i++) {
    double part = floor((x[i] - low) / (high - low) * (double)bins);
    if (part == part) {
      counts[part < 0 ? 0 : part >= (double)bins ? bins - 1 : (int64_t)part] += 1;
    }
  }
  return ND4C_OK;
}

/* -- counts ------------------------------------------------------------------------------------------------------- */

/* The first value that is not in 0 .. limit - 1, or -1. */
static int64_t find_beyond(const int64_t *values, int64_t count, int64_t limit) {
  for (int64_t i = 0; i < count; i++) {
    if (values[i] < 0 || values[i] >= limit) {
      return i;
    }
  }
  return -1;
}

static nd4c_status bincount(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t length = ND4C_INT_OF(call, bincount_minlength), most = y->shape[0];
  const int64_t *values = nd4c_cpu_work_load_integers(work, 0);
  const double *weights = nd4c_cpu_work_load(work, ND4C_IN_bincount_weights);
  double *sums = nd4c_cpu_work_make(work, most);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  int64_t beyond = find_beyond(values, x->size, most);
  ND4C_CPU_FAIL_IF(beyond >= 0, ND4C_INDEX, "bincount: element %lld is %lld, expected 0 to %lld (maxlength - 1)",
                   (long long)beyond, (long long)values[beyond], (long long)most - 1);
  for (int64_t i = 0; i < x->size; i++) {
    length = values[i] >= length ? values[i] + 1 : length;
    sums[values[i]] += weights != NULL ? weights[i] : 1;
  }
  nd4c_ref_write_doubles(y->dtype, y->data, 0, y->strides[0], length, sums);
  if (call->true_shapes != NULL) {
    call->true_shapes[0][0] = length;
  }
  return ND4C_OK;
}

nd4c_status nd4c_cpu_check_classes(const nd4c_call *call, int32_t input, const int64_t *values, int64_t classes) {
  int64_t beyond = find_beyond(values, call->inputs[input].size, classes);
  return beyond < 0
             ? ND4C_OK
             : nd4c_cpu_host->fail(ND4C_INDEX, "confusion_matrix: element %lld of %s is %lld, expected 0 to %lld",
                                   (long long)beyond, call->op->inputs[input].name, (long long)values[beyond],
                                   (long long)classes - 1);
}

static nd4c_status confusion_matrix(const nd4c_call *call, nd4c_cpu_work *work) {
  int64_t classes = call->outputs[0].shape[0];
  const int64_t *labels = nd4c_cpu_work_load_integers(work, 0), *predictions = nd4c_cpu_work_load_integers(work, 1);
  const double *weights = nd4c_cpu_work_load(work, ND4C_IN_confusion_matrix_weights);
  double *sums = nd4c_cpu_work_output(work, 0);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  ND4C_BACKEND_TRY(nd4c_cpu_check_classes(call, 0, labels, classes));
  ND4C_BACKEND_TRY(nd4c_cpu_check_classes(call, 1, predictions, classes));
  for (int64_t i = 0; i < call->inputs[0].size; i++) {
    sums[labels[i] * classes + predictions[i]] += weights != NULL ? weights[i] : 1;
  }
  return ND4C_OK;
}

/* -- list --------------------------------------------------------------------------------------------------------- */

#define R ND4C_CPU_REALS
#define OPS(X)                                                   \
  X(searchsorted, R, searchsorted(call, work))                   \
  X(digitize, R, digitize(call, work))                           \
  X(is_non_decreasing, R, is_ordered(call, work, false))         \
  X(is_strictly_increasing, R, is_ordered(call, work, true))     \
  X(in_top_k, ND4C_CPU_FLOATS, in_top_k(call, work))             \
  X(histogram, R, histogram(call, work))                         \
  X(histogram_bin_edges, R, histogram_bin_edges(call, work))     \
  X(histogram_fixed_width, R, histogram_fixed_width(call, work)) \
  X(bincount, ND4C_CPU_INTS, bincount(call, work))               \
  X(confusion_matrix, ND4C_CPU_INTS, confusion_matrix(call, work))
OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_sorting_histogram_kernels[] = {OPS(ND4C_CPU_WORK_ROW) NULL};
