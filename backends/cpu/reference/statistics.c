/* Engine reference: statistics over axes and along an axis. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/reference/reference.h"
#include "kernels/reference/sorting/order.h"
#include "kernels/reference/statistics/statistics.h"
#include "kernels/reference/statistics/distance.h"

/* -- over axes --------------------------------------------------------------------------------------------------- */

/* The gathering of a call whose attributes begin with axes and keepdims, into output `output`. */
static nd4c_ref_gathering gathering_of(const nd4c_call *call, nd4c_ref_statistic statistic, int32_t output) {
  bool reduced[ND4C_CPU_MAX_RANK];
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(&call->inputs[0]), y = nd4c_cpu_ref_tensor(&call->outputs[output]);
  nd4c_ref_gathering gathering = {
      .statistic = statistic, .x_dtype = x.dtype, .y_dtype = y.dtype, .x = x.data, .y = y.data};
  nd4c_cpu_reduced_axes(x.rank, &call->attrs[ND4C_ATTR_sum_axes], reduced);
  nd4c_ref_split_axes(&x, reduced, call->attrs[ND4C_ATTR_sum_keepdims].as.i != 0, &y, &gathering.outer,
                      &gathering.inner);
  return gathering;
}

ND4C_CPU_RANGE(gather_range, nd4c_ref_gather)

static void over_axes(const nd4c_call *call, nd4c_ref_gathering *gathering, nd4c_range_function range) {
  int64_t grain = nd4c_cpu_grain(nd4c_ref_axes_size(&gathering->inner));
  nd4c_cpu_parallel(nd4c_ref_axes_size(&gathering->outer), grain, call->width, range, gathering);
}

static nd4c_status gather(const nd4c_call *call, nd4c_ref_statistic statistic, double parameter, bool skip_nan) {
  nd4c_ref_gathering gathering = gathering_of(call, statistic, 0);
  gathering.parameter = parameter;
  gathering.skip_nan = skip_nan;
  over_axes(call, &gathering, gather_range);
  return ND4C_OK;
}

static nd4c_status run_moments(const nd4c_call *call) {
  nd4c_ref_gathering mean = gathering_of(call, ND4C_REF_STATISTIC_mean, 0);
  nd4c_ref_gathering variance = gathering_of(call, ND4C_REF_STATISTIC_variance, 1);
  over_axes(call, &mean, gather_range);
  over_axes(call, &variance, gather_range);
  return ND4C_OK;
}

ND4C_CPU_RANGE(ptp_range, nd4c_ref_ptp)

static nd4c_status run_ptp(const nd4c_call *call) {
  nd4c_ref_gathering gathering = gathering_of(call, ND4C_REF_STATISTIC_max, 0);
  over_axes(call, &gathering, ptp_range);
  return ND4C_OK;
}

/* -- distances --------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(compare_range, nd4c_ref_compare)

static nd4c_status compare(const nd4c_call *call, nd4c_ref_distance distance) {
  bool reduced[ND4C_CPU_MAX_RANK], keepdims = call->attrs[ND4C_ATTR_euclidean_distance_keepdims].as.i != 0;
  nd4c_ref_tensor a = nd4c_cpu_ref_tensor(&call->inputs[0]), b = nd4c_cpu_ref_tensor(&call->inputs[1]);
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  nd4c_ref_comparison c = {.distance = distance, .dtype = a.dtype, .a = a.data, .b = b.data, .y = y.data};
  nd4c_cpu_reduced_axes(a.rank, &call->attrs[ND4C_ATTR_euclidean_distance_axes], reduced);
  nd4c_ref_split_axes(&a, reduced, keepdims, &y, &c.a_outer, &c.a_inner);
  nd4c_ref_split_axes(&b, reduced, keepdims, &y, &c.b_outer, &c.b_inner);
  int64_t grain = nd4c_cpu_grain(nd4c_ref_axes_size(&c.a_inner));
  nd4c_cpu_parallel(nd4c_ref_axes_size(&c.a_outer), grain, call->width, compare_range, &c);
  return ND4C_OK;
}

/* -- quantiles --------------------------------------------------------------------------------------------------- */

typedef struct quantile_call {
  nd4c_ref_gathering gathering;
  const double *q;
  int32_t count;
  nd4c_ref_quantile_method method;
  bool skip_nan;
  int64_t q_stride;
  double *rows; /* one a worker: the elements, and twice as much to sort in */
} quantile_call;

static void quantile_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const quantile_call *c = user;
  const nd4c_ref_gathering *gathering = &c->gathering;
  int64_t size = nd4c_ref_axes_size(&gathering->inner);
  double *row = c->rows + worker * size * 3;
  for (int64_t position = begin; position < end; position++) {
    int64_t x, y, count = size;
    bool has_nan = nd4c_ref_collect(gathering, position, row);
    nd4c_ref_sort_doubles(row, size, (uint64_t *)(void *)(row + size));
    while (c->skip_nan && count > 0 && row[count - 1] != row[count - 1]) {
      count--; /* NaN stands last */
    }
    nd4c_ref_axes_at(&gathering->outer, position, &x, &y);
    for (int32_t i = 0; i < c->count; i++) {
      bool none = count == 0 || (has_nan && !c->skip_nan);
      double value = none ? NAN : nd4c_ref_quantile(row, count, c->q[i], c->method);
      nd4c_value_store(gathering->y_dtype, gathering->y, y + i * c->q_stride, (nd4c_value){.f = value});
    }
  }
}

static nd4c_status run_quantiles(const nd4c_call *call, quantile_call *c) {
  int64_t outer = nd4c_ref_axes_size(&c->gathering.outer), size = nd4c_ref_axes_size(&c->gathering.inner);
  int64_t workers = outer < call->width ? outer : call->width;
  size_t bytes = (size_t)(workers > 1 ? workers : 1) * (size_t)size * 3 * sizeof(double);
  if (outer == 0 || c->count == 0) {
    return ND4C_OK;
  }
  c->rows = nd4c_cpu_host->allocate_pages(bytes);
  if (c->rows == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "no memory for %zu bytes to sort in", bytes);
  }
  nd4c_cpu_parallel(outer, nd4c_cpu_grain(size * 16), (int32_t)(workers > 1 ? workers : 1), quantile_range, c);
  nd4c_cpu_host->free_pages(c->rows, bytes);
  return ND4C_OK;
}

static nd4c_status median(const nd4c_call *call, bool skip_nan) {
  static const double half = 0.5;
  quantile_call c = {.q = &half, .count = 1, .method = ND4C_REF_QUANTILE_MIDPOINT, .skip_nan = skip_nan};
  c.gathering = gathering_of(call, ND4C_REF_STATISTIC_mean, 0);
  return run_quantiles(call, &c);
}

static nd4c_status run_median(const nd4c_call *call) {
  return median(call, false);
}

static nd4c_status run_nanmedian(const nd4c_call *call) {
  return median(call, true);
}

_Static_assert((int)ND4C_REF_QUANTILE_LINEAR == ND4C_QUANTILE_METHOD_LINEAR &&
                   (int)ND4C_REF_QUANTILE_LOWER == ND4C_QUANTILE_METHOD_LOWER &&
                   (int)ND4C_REF_QUANTILE_HIGHER == ND4C_QUANTILE_METHOD_HIGHER &&
                   (int)ND4C_REF_QUANTILE_MIDPOINT == ND4C_QUANTILE_METHOD_MIDPOINT &&
                   (int)ND4C_REF_QUANTILE_NEAREST == ND4C_QUANTILE_METHOD_NEAREST,
               "the kernel numbers the methods as the op table does");

/* The result's first axis counts q; the rest is what a reduction gives. */
static nd4c_status run_quantile(const nd4c_call *call) {
  const nd4c_attr_value *q = &call->attrs[ND4C_ATTR_quantile_q];
  nd4c_tensor rest = call->outputs[0];
  nd4c_call inner = *call;
  rest.rank--;
  rest.shape++;
  rest.strides++;
  inner.outputs = &rest;
  quantile_call c = {.q = q->as.floats, .count = q->count, .q_stride = call->outputs[0].strides[0]};
  c.method = (nd4c_ref_quantile_method)call->attrs[ND4C_ATTR_quantile_method].as.i;
  c.gathering = gathering_of(&inner, ND4C_REF_STATISTIC_mean, 0);
  return run_quantiles(call, &c);
}

/* -- along an axis ----------------------------------------------------------------------------------------------- */

static nd4c_ref_lines lines_of(const nd4c_call *call, int32_t axis) {
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(&call->inputs[0]), y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  nd4c_ref_lines lines = {.x_dtype = x.dtype, .y_dtype = y.dtype, .x = x.data, .y = y.data};
  lines.outer = nd4c_ref_axes_without(&x, &y, axis);
  lines.length = x.shape[axis];
  lines.x_stride = x.strides[axis];
  lines.y_stride = y.strides[axis];
  return lines;
}

static void along_axis(const nd4c_call *call, nd4c_ref_lines *lines, nd4c_range_function range) {
  nd4c_cpu_parallel(nd4c_ref_axes_size(&lines->outer), nd4c_cpu_grain(lines->length), call->width, range, lines);
}

ND4C_CPU_RANGE(accumulate_range, nd4c_ref_accumulate)

static nd4c_status cumulative(const nd4c_call *call, nd4c_ref_running kind, bool include_initial) {
  const nd4c_attr_value *attrs = call->attrs;
  nd4c_ref_lines lines = lines_of(call, nd4c_axis(attrs[ND4C_ATTR_cumulative_sum_axis].as.i, call->inputs[0].rank));
  lines.kind = kind;
  lines.include_initial = include_initial;
  lines.reverse = attrs[ND4C_ATTR_cumulative_sum_reverse].as.i != 0;
  lines.exclusive = attrs[ND4C_ATTR_cumulative_sum_exclusive].as.i != 0;
  along_axis(call, &lines, accumulate_range);
  return ND4C_OK;
}

static nd4c_status run_cumulative_sum(const nd4c_call *call) {
  return cumulative(call, ND4C_REF_RUNNING_SUM, call->attrs[ND4C_ATTR_cumulative_sum_include_initial].as.i != 0);
}

static nd4c_status run_cumulative_prod(const nd4c_call *call) {
  return cumulative(call, ND4C_REF_RUNNING_PROD, call->attrs[ND4C_ATTR_cumulative_prod_include_initial].as.i != 0);
}

static nd4c_status run_cumulative_logsumexp(const nd4c_call *call) {
  return cumulative(call, ND4C_REF_RUNNING_LOGSUMEXP, false);
}

ND4C_CPU_RANGE(best_range, nd4c_ref_running_best)

static nd4c_status running_best(const nd4c_call *call, nd4c_ref_running kind) {
  int32_t axis = nd4c_axis(call->attrs[ND4C_ATTR_cumulative_max_axis].as.i, call->inputs[0].rank);
  nd4c_ref_lines lines = lines_of(call, axis);
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(&call->inputs[0]), indices = nd4c_cpu_ref_tensor(&call->outputs[1]);
  lines.kind = kind;
  lines.indices = call->outputs[1].data;
  lines.index_outer = nd4c_ref_axes_without(&x, &indices, axis);
  lines.index_stride = indices.strides[axis];
  along_axis(call, &lines, best_range);
  return ND4C_OK;
}

static nd4c_status run_cumulative_max(const nd4c_call *call) {
  return running_best(call, ND4C_REF_RUNNING_MAX);
}

static nd4c_status run_cumulative_min(const nd4c_call *call) {
  return running_best(call, ND4C_REF_RUNNING_MIN);
}

/* In the caller alone: the work row is one. */
static nd4c_status run_diff(const nd4c_call *call) {
  int32_t axis = nd4c_axis(call->attrs[ND4C_ATTR_diff_axis].as.i, call->inputs[0].rank);
  int64_t order = call->attrs[ND4C_ATTR_diff_order].as.i, room = 0;
  nd4c_ref_lines lines = lines_of(call, axis);
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  nd4c_ref_tensor pieces[3] = {nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_diff_prepend)),
                               nd4c_cpu_ref_tensor(&call->inputs[0]),
                               nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_diff_append))};
  nd4c_ref_axes axes[3];
  for (int i = 0; i < 3; i++) {
    bool given = pieces[i].dtype != ND4C_DTYPE_NONE && pieces[i].shape[axis] > 0;
    axes[i] = given ? nd4c_ref_axes_without(&pieces[i], &y, axis) : (nd4c_ref_axes){.rank = 0};
    pieces[i].data = given ? pieces[i].data : NULL;
    room += given ? pieces[i].shape[axis] : 0;
  }
  lines.length = y.shape[axis];
  if (lines.length == 0) {
    return ND4C_OK;
  }
  size_t bytes = (size_t)room * sizeof(nd4c_value);
  nd4c_value *work = nd4c_cpu_host->allocate_pages(bytes);
  if (work == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "no memory for a line of %lld elements", (long long)room);
  }
  nd4c_ref_diff(&lines, pieces, axes, axis, order, work, 0, nd4c_ref_axes_size(&lines.outer));
  nd4c_cpu_host->free_pages(work, bytes);
  return ND4C_OK;
}

/* -- list -------------------------------------------------------------------------------------------------------- */

#define REAL_FLOATS ND4C_CPU_FLOATS
#define ALL_FLOATS (ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES)

/* X(op, dtypes, statistic, parameter, without NaN) */
#define GATHERED(X)                                                                     \
  X(var, ALL_FLOATS, variance, call->attrs[ND4C_ATTR_var_correction].as.f, false)       \
  X(std, ALL_FLOATS, deviation, call->attrs[ND4C_ATTR_std_correction].as.f, false)      \
  X(logsumexp, REAL_FLOATS, logsumexp, 0, false)                                        \
  X(norm1, ALL_FLOATS, norm1, 0, false)                                                 \
  X(norm2, ALL_FLOATS, norm2, 0, false)                                                 \
  X(norm_max, ALL_FLOATS, norm_max, 0, false)                                           \
  X(norm_p, ALL_FLOATS, norm_p, call->attrs[ND4C_ATTR_norm_p_p].as.f, false)            \
  X(sum_square, ALL_FLOATS, sum_square, 0, false)                                       \
  X(count_nonzero, ND4C_CPU_ALL, count_nonzero, 0, false)                               \
  X(count_zero, ND4C_CPU_ALL, count_zero, 0, false)                                     \
  X(zero_fraction, ND4C_CPU_ALL, zero_fraction, 0, false)                               \
  X(entropy, REAL_FLOATS, entropy, 0, false)                                            \
  X(log_entropy, REAL_FLOATS, log_entropy, 0, false)                                    \
  X(shannon_entropy, REAL_FLOATS, shannon_entropy, 0, false)                            \
  X(abs_min, ALL_FLOATS, abs_min, 0, false)                                             \
  X(abs_mean, ALL_FLOATS, abs_mean, 0, false)                                           \
  X(nansum, REAL_FLOATS, sum, 0, true)                                                  \
  X(nanprod, REAL_FLOATS, prod, 0, true)                                                \
  X(nanmean, REAL_FLOATS, mean, 0, true)                                                \
  X(nanmax, REAL_FLOATS, max, 0, true)                                                  \
  X(nanmin, REAL_FLOATS, min, 0, true)                                                  \
  X(nanvar, REAL_FLOATS, variance, call->attrs[ND4C_ATTR_nanvar_correction].as.f, true) \
  X(nanstd, REAL_FLOATS, deviation, call->attrs[ND4C_ATTR_nanstd_correction].as.f, true)

#define DEFINE_GATHERED(op, dtypes, statistic, parameter, skip_nan)               \
  static nd4c_status run_##op(const nd4c_call *call) {                            \
    return gather(call, ND4C_REF_STATISTIC_##statistic, (parameter), (skip_nan)); \
  }
GATHERED(DEFINE_GATHERED)

#define DISTANCES(X)                      \
  X(cosine_similarity, COSINE_SIMILARITY) \
  X(euclidean_distance, EUCLIDEAN)        \
  X(manhattan_distance, MANHATTAN)        \
  X(hamming_distance, HAMMING)            \
  X(jaccard_distance, JACCARD)
#define DEFINE_DISTANCE(op, distance)                   \
  static nd4c_status run_##op(const nd4c_call *call) {  \
    return compare(call, ND4C_REF_DISTANCE_##distance); \
  }
DISTANCES(DEFINE_DISTANCE)

#define OTHERS(X)                      \
  X(cumulative_sum, ND4C_CPU_ALL)      \
  X(cumulative_prod, ND4C_CPU_ALL)     \
  X(cumulative_max, ND4C_CPU_REALS)    \
  X(cumulative_min, ND4C_CPU_REALS)    \
  X(cumulative_logsumexp, REAL_FLOATS) \
  X(moments, REAL_FLOATS)              \
  X(ptp, ND4C_CPU_REALS)               \
  X(median, ND4C_CPU_REALS)            \
  X(quantile, ND4C_CPU_REALS)          \
  X(nanmedian, REAL_FLOATS)            \
  X(diff, ND4C_CPU_NUMBERS)
#define KERNEL(op, dtypes) ND4C_CPU_REFERENCE_KERNEL(op, dtypes, run_##op),
#define STATISTIC(op, dtypes, ...) KERNEL(op, dtypes)
#define DISTANCE(op, distance) KERNEL(op, REAL_FLOATS)
const nd4c_kernel *const nd4c_cpu_reference_statistics_kernels[] = {GATHERED(STATISTIC) DISTANCES(DISTANCE)
                                                                        OTHERS(KERNEL) NULL};
