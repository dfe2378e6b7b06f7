/* Engine reference: statistics over axes and along an axis. dispatch/choice.c asks these kernels last, after those of
 * all other engines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/reference/work.h"
#include "kernels/reference/sorting/order.h"
#include "kernels/reference/statistics/distance.h"
#include "kernels/reference/statistics/statistics.h"

/* -- over axes --------------------------------------------------------------------------------------------------- */

/* The gathering of a call whose attributes begin with axes and keepdims, into output `output`. */
static nd4c_ref_gathering gathering_of(const nd4c_call *call, nd4c_ref_statistic statistic, int32_t output) {
  bool reduced[ND4C_CPU_MAX_RANK];
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, output);
  nd4c_ref_gathering gathering = {
      .statistic = statistic, .x_dtype = x.dtype, .y_dtype = y.dtype, .x = x.data, .y = y.data};
  nd4c_cpu_reduced_axes(x.rank, &call->attrs[ND4C_ATTR_sum_axes], reduced);
  nd4c_ref_split_axes(&x, reduced, ND4C_FLAG_OF(call, sum_keepdims), &y, &gathering.outer, &gathering.inner);
  return gathering;
}

ND4C_CPU_RANGE(gather_range, nd4c_ref_gather)

static nd4c_status over_axes(const nd4c_call *call, nd4c_ref_gathering *gathering, nd4c_range_function range) {
  return nd4c_cpu_reference_parallel(call, nd4c_ref_axes_size(&gathering->outer), nd4c_ref_axes_size(&gathering->inner),
                                     range, gathering);
}

static nd4c_status gather(const nd4c_call *call, nd4c_ref_statistic statistic, double parameter, bool skip_nan) {
  nd4c_ref_gathering gathering = gathering_of(call, statistic, 0);
  gathering.parameter = parameter;
  gathering.skip_nan = skip_nan;
  return over_axes(call, &gathering, gather_range);
}

static nd4c_status moments_run(const nd4c_call *call) {
  nd4c_ref_gathering mean = gathering_of(call, ND4C_REF_STATISTIC_mean, 0);
  nd4c_ref_gathering variance = gathering_of(call, ND4C_REF_STATISTIC_variance, 1);
  (void)over_axes(call, &mean, gather_range);
  return over_axes(call, &variance, gather_range);
}

ND4C_CPU_RANGE(ptp_range, nd4c_ref_ptp)

static nd4c_status ptp_run(const nd4c_call *call) {
  nd4c_ref_gathering gathering = gathering_of(call, ND4C_REF_STATISTIC_max, 0);
  return over_axes(call, &gathering, ptp_range);
}

/* -- distances --------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(compare_range, nd4c_ref_compare)

static nd4c_status compare(const nd4c_call *call, nd4c_ref_distance distance) {
  bool reduced[ND4C_CPU_MAX_RANK], keepdims = ND4C_FLAG_OF(call, euclidean_distance_keepdims);
  nd4c_ref_tensor a = nd4c_cpu_ref_input(call, 0), b = nd4c_cpu_ref_input(call, 1);
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0);
  nd4c_ref_comparison c = {.distance = distance, .dtype = a.dtype, .a = a.data, .b = b.data, .y = y.data};
  nd4c_cpu_reduced_axes(a.rank, &call->attrs[ND4C_ATTR_euclidean_distance_axes], reduced);
  nd4c_ref_split_axes(&a, reduced, keepdims, &y, &c.a_outer, &c.a_inner);
  nd4c_ref_split_axes(&b, reduced, keepdims, &y, &c.b_outer, &c.b_inner);
  return nd4c_cpu_reference_parallel(call, nd4c_ref_axes_size(&c.a_outer), nd4c_ref_axes_size(&c.a_inner),
                                     compare_range, &c);
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

static nd4c_status run_quantiles(const nd4c_call *call, nd4c_cpu_work *work, quantile_call *c) {
  int64_t outer = nd4c_ref_axes_size(&c->gathering.outer), size = nd4c_ref_axes_size(&c->gathering.inner);
  int64_t workers = outer < call->width ? outer : call->width;
  c->rows = nd4c_cpu_work_make(work, (workers > 1 ? workers : 1) * size * 3);
  return nd4c_cpu_work_parallel(work, c->count > 0 ? outer : 0, size * 16, quantile_range, c);
}

static nd4c_status median(const nd4c_call *call, nd4c_cpu_work *work, bool skip_nan) {
  static const double half = 0.5;
  quantile_call c = {.q = &half, .count = 1, .method = ND4C_REF_QUANTILE_MIDPOINT, .skip_nan = skip_nan};
  c.gathering = gathering_of(call, ND4C_REF_STATISTIC_mean, 0);
  return run_quantiles(call, work, &c);
}

_Static_assert((int)ND4C_REF_QUANTILE_LINEAR == ND4C_QUANTILE_METHOD_LINEAR &&
                   (int)ND4C_REF_QUANTILE_LOWER == ND4C_QUANTILE_METHOD_LOWER &&
                   (int)ND4C_REF_QUANTILE_HIGHER == ND4C_QUANTILE_METHOD_HIGHER &&
                   (int)ND4C_REF_QUANTILE_MIDPOINT == ND4C_QUANTILE_METHOD_MIDPOINT &&
                   (int)ND4C_REF_QUANTILE_NEAREST == ND4C_QUANTILE_METHOD_NEAREST,
               "the kernel numbers the methods as the op table does");

/* The result's first axis counts q; the rest is what a reduction gives. */
static nd4c_status quantile(const nd4c_call *call, nd4c_cpu_work *work) {
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
  return run_quantiles(call, work, &c);
}

/* -- along an axis ----------------------------------------------------------------------------------------------- */

static nd4c_ref_lines lines_of(const nd4c_call *call, int32_t axis) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  nd4c_ref_lines lines = {.x_dtype = x.dtype, .y_dtype = y.dtype, .x = x.data, .y = y.data};
  lines.outer = nd4c_ref_axes_without(&x, &y, axis);
  lines.length = x.shape[axis];
  lines.x_stride = x.strides[axis];
  lines.y_stride = y.strides[axis];
  return lines;
}

static nd4c_status along_axis(const nd4c_call *call, nd4c_ref_lines *lines, nd4c_range_function range) {
  return nd4c_cpu_reference_parallel(call, nd4c_ref_axes_size(&lines->outer), lines->length, range, lines);
}

ND4C_CPU_RANGE(accumulate_range, nd4c_ref_accumulate)

static nd4c_status cumulative(const nd4c_call *call, nd4c_ref_running kind, bool include_initial) {
  nd4c_ref_lines lines = lines_of(call, nd4c_axis(ND4C_INT_OF(call, cumulative_sum_axis), call->inputs[0].rank));
  lines.kind = kind;
  lines.include_initial = include_initial;
  lines.reverse = ND4C_FLAG_OF(call, cumulative_sum_reverse);
  lines.exclusive = ND4C_FLAG_OF(call, cumulative_sum_exclusive);
  return along_axis(call, &lines, accumulate_range);
}

ND4C_CPU_RANGE(best_range, nd4c_ref_running_best)

static nd4c_status running_best(const nd4c_call *call, nd4c_ref_running kind) {
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, cumulative_max_axis), call->inputs[0].rank);
  nd4c_ref_lines lines = lines_of(call, axis);
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), indices = nd4c_cpu_ref_output(call, 1);
  lines.kind = kind;
  lines.indices = call->outputs[1].data;
  lines.index_outer = nd4c_ref_axes_without(&x, &indices, axis);
  lines.index_stride = indices.strides[axis];
  return along_axis(call, &lines, best_range);
}

/* The calling thread computes all lines: the work space holds one line. */
static nd4c_status diff(const nd4c_call *call, nd4c_cpu_work *work) {
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, diff_axis), call->inputs[0].rank);
  int64_t order = ND4C_INT_OF(call, diff_order), room = 0;
  nd4c_ref_lines lines = lines_of(call, axis);
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0);
  nd4c_ref_tensor pieces[3] = {nd4c_cpu_ref_input(call, ND4C_IN_diff_prepend), nd4c_cpu_ref_input(call, 0),
                               nd4c_cpu_ref_input(call, ND4C_IN_diff_append)};
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
  int64_t words = (int64_t)(sizeof(nd4c_value) / sizeof(double));
  nd4c_value *line = (nd4c_value *)(void *)nd4c_cpu_work_make(work, room * words);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  nd4c_ref_diff(&lines, pieces, axes, axis, order, line, 0, nd4c_ref_axes_size(&lines.outer));
  return ND4C_OK;
}

/* -- list -------------------------------------------------------------------------------------------------------- */

#define F ND4C_CPU_FLOATS
#define FC (ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES)
#define A ND4C_CPU_ALL
#define R ND4C_CPU_REALS
#define GATHER(statistic, parameter, skip_nan) gather(call, ND4C_REF_STATISTIC_##statistic, parameter, skip_nan)
/* X(op, dtypes, expression) */
#define OPS(X)                                                                                                        \
  X(var, FC, GATHER(variance, ND4C_REAL_OF(call, var_correction), false))                                             \
  X(std, FC, GATHER(deviation, ND4C_REAL_OF(call, std_correction), false))                                            \
  X(logsumexp, F, GATHER(logsumexp, 0, false))                                                                        \
  X(norm1, FC, GATHER(norm1, 0, false))                                                                               \
  X(norm2, FC, GATHER(norm2, 0, false))                                                                               \
  X(norm_max, FC, GATHER(norm_max, 0, false))                                                                         \
  X(norm_p, FC, GATHER(norm_p, ND4C_REAL_OF(call, norm_p_p), false))                                                  \
  X(sum_square, FC, GATHER(sum_square, 0, false))                                                                     \
  X(count_nonzero, A, GATHER(count_nonzero, 0, false))                                                                \
  X(count_zero, A, GATHER(count_zero, 0, false))                                                                      \
  X(zero_fraction, A, GATHER(zero_fraction, 0, false))                                                                \
  X(entropy, F, GATHER(entropy, 0, false))                                                                            \
  X(log_entropy, F, GATHER(log_entropy, 0, false))                                                                    \
  X(shannon_entropy, F, GATHER(shannon_entropy, 0, false))                                                            \
  X(abs_min, FC, GATHER(abs_min, 0, false))                                                                           \
  X(abs_mean, FC, GATHER(abs_mean, 0, false))                                                                         \
  X(nansum, F, GATHER(sum, 0, true))                                                                                  \
  X(nanprod, F, GATHER(prod, 0, true))                                                                                \
  X(nanmean, F, GATHER(mean, 0, true))                                                                                \
  X(nanmax, F, GATHER(max, 0, true))                                                                                  \
  X(nanmin, F, GATHER(min, 0, true))                                                                                  \
  X(nanvar, F, GATHER(variance, ND4C_REAL_OF(call, nanvar_correction), true))                                         \
  X(nanstd, F, GATHER(deviation, ND4C_REAL_OF(call, nanstd_correction), true))                                        \
  X(cosine_similarity, F, compare(call, ND4C_REF_DISTANCE_COSINE_SIMILARITY))                                         \
  X(euclidean_distance, F, compare(call, ND4C_REF_DISTANCE_EUCLIDEAN))                                                \
  X(manhattan_distance, F, compare(call, ND4C_REF_DISTANCE_MANHATTAN))                                                \
  X(hamming_distance, F, compare(call, ND4C_REF_DISTANCE_HAMMING))                                                    \
  X(jaccard_distance, F, compare(call, ND4C_REF_DISTANCE_JACCARD))                                                    \
  X(cumulative_sum, A, cumulative(call, ND4C_REF_RUNNING_SUM, ND4C_FLAG_OF(call, cumulative_sum_include_initial)))    \
  X(cumulative_prod, A, cumulative(call, ND4C_REF_RUNNING_PROD, ND4C_FLAG_OF(call, cumulative_prod_include_initial))) \
  X(cumulative_logsumexp, F, cumulative(call, ND4C_REF_RUNNING_LOGSUMEXP, false))                                     \
  X(cumulative_max, R, running_best(call, ND4C_REF_RUNNING_MAX))                                                      \
  X(cumulative_min, R, running_best(call, ND4C_REF_RUNNING_MIN))
#define WORK_OPS(X)                         \
  X(median, R, median(call, work, false))   \
  X(nanmedian, F, median(call, work, true)) \
  X(quantile, R, quantile(call, work))      \
  X(diff, ND4C_CPU_NUMBERS, diff(call, work))
OPS(ND4C_CPU_REFERENCE_RUN)
WORK_OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_statistics_kernels[] = {OPS(ND4C_CPU_REFERENCE_ROW) WORK_OPS(
    ND4C_CPU_WORK_ROW) ND4C_CPU_REFERENCE_ROW(moments, F) ND4C_CPU_REFERENCE_ROW(ptp, R) NULL};
