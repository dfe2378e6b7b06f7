/* Implements nd4c/lists.h, which programs call: functions that return several arrays as views. */
#include "nd4c/lists.h"

#include <string.h>

#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"
#include "nd4c/ops.h"

static nd4c_status check_lists(const char *name, const void *inputs, nd4c_array *const *outputs, int32_t count) {
  if (inputs == NULL || outputs == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: %s is NULL", name, inputs == NULL ? "the input" : "outputs");
  }
  if (count < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d outputs, expected at least 0", name, (int)count);
  }
  return ND4C_OK;
}

static nd4c_status check_arrays(const char *name, const nd4c_array *const *xs, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    if (xs[i] == NULL) {
      return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: xs[%d] is NULL", name, (int)i);
    }
  }
  return ND4C_OK;
}

/* Releases the first `made` outputs after a later one has failed. */
static nd4c_status finish(nd4c_status status, nd4c_array **outputs, int32_t made) {
  for (int32_t i = 0; i < made && status != ND4C_OK; i++) {
    nd4c_array_release(outputs[i]);
    outputs[i] = NULL;
  }
  return status;
}

static nd4c_status axis_extent(const nd4c_array *x, int64_t axis, const char *name, int32_t *normalized,
                               int64_t *extent) {
  nd4c_status status = nd4c_axis_normalize(axis, nd4c_array_rank(x), "axis", normalized);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "%s", name);
  }
  *extent = nd4c_array_shape(x)[*normalized];
  return ND4C_OK;
}

nd4c_status nd4c_unstack(const nd4c_array *x, int64_t axis, nd4c_array **outputs, int32_t count) {
  int64_t extent = 0;
  int32_t at = 0;
  nd4c_status status = check_lists("nd4c_unstack", x, outputs, count);
  ND4C_TRY(status);
  ND4C_TRY(axis_extent(x, axis, "nd4c_unstack", &at, &extent));
  if (extent != count) {
    return nd4c_fail(ND4C_SHAPE, "nd4c_unstack: %d outputs for axis %d of length %lld", (int)count, (int)at,
                     (long long)extent);
  }
  int32_t made = 0;
  for (; made < count && status == ND4C_OK; made++) {
    outputs[made] = NULL;
    status = nd4c_select(x, at, made, &outputs[made]);
  }
  return finish(status, outputs, made);
}

/* *output: a view of `length` elements of the axis from `start` on. */
static nd4c_status cut(const nd4c_array *x, int64_t axis, int64_t start, int64_t length, nd4c_array **output) {
  int64_t stop = start + length;
  nd4c_slice_options options = ND4C_SLICE_DEFAULTS;
  options.starts = &start;
  options.stops = &stop;
  options.axes = &axis;
  options.starts_count = options.stops_count = options.axes_count = 1;
  *output = NULL;
  return nd4c_slice(x, &options, output);
}

nd4c_status nd4c_split(const nd4c_array *x, int64_t axis, const int64_t *lengths, nd4c_array **outputs, int32_t count) {
  int64_t extent = 0, total = 0, start = 0;
  int32_t at = 0;
  nd4c_status status = check_lists("nd4c_split", x, outputs, count);
  ND4C_TRY(status);
  ND4C_TRY(axis_extent(x, axis, "nd4c_split", &at, &extent));
  for (int32_t i = 0; i < count && lengths != NULL; i++) {
    if (lengths[i] < 0 || !nd4c_checked_add(total, lengths[i], &total)) {
      return nd4c_fail(ND4C_SHAPE, "nd4c_split: part %d has length %lld, expected at least 0", (int)i,
                       (long long)lengths[i]);
    }
  }
  if (lengths != NULL ? total != extent : count == 0) {
    return nd4c_fail(ND4C_SHAPE, "nd4c_split: %d parts of %lld in all for axis %d of length %lld", (int)count,
                     (long long)total, (int)at, (long long)extent);
  }
  int32_t made = 0;
  for (; made < count && status == ND4C_OK; made++) {
    int64_t length = lengths != NULL ? lengths[made] : extent / count + (made < extent % count);
    status = cut(x, at, start, length, &outputs[made]);
    start += length;
  }
  return finish(status, outputs, made);
}

nd4c_status nd4c_broadcast_arrays(const nd4c_array *const *xs, nd4c_array **outputs, int32_t count) {
  int64_t shape[ND4C_MAX_RANK];
  int32_t rank = 0;
  nd4c_status status = check_lists("nd4c_broadcast_arrays", xs, outputs, count);
  ND4C_TRY(status);
  ND4C_TRY(check_arrays("nd4c_broadcast_arrays", xs, count));
  for (int32_t i = 0; i < count; i++) {
    int64_t common[ND4C_MAX_RANK];
    int32_t common_rank = 0;
    status = nd4c_shape_broadcast(rank, shape, nd4c_array_rank(xs[i]), nd4c_array_shape(xs[i]), &common_rank, common);
    if (status != ND4C_OK) {
      return nd4c_fail_prefix(status, "nd4c_broadcast_arrays: xs[%d]", (int)i);
    }
    rank = common_rank;
    memcpy(shape, common, (size_t)rank * sizeof *shape);
  }
  int32_t made = 0;
  for (; made < count && status == ND4C_OK; made++) {
    outputs[made] = NULL;
    status = nd4c_broadcast_to(xs[made], shape, rank, &outputs[made]);
  }
  return finish(status, outputs, made);
}

/* *output: a view of the grid's shape that repeats x along all axes but `axis`. */
static nd4c_status spread(const nd4c_array *x, int32_t axis, int32_t rank, const int64_t *shape, nd4c_array **output) {
  int64_t own[ND4C_MAX_RANK];
  nd4c_array *column = NULL;
  for (int32_t i = 0; i < rank; i++) {
    own[i] = i == axis ? nd4c_array_size(x) : 1;
  }
  *output = NULL;
  ND4C_TRY(nd4c_reshape(x, own, rank, &column));
  nd4c_status status = nd4c_broadcast_to(column, shape, rank, output);
  nd4c_array_release(column);
  return status;
}

nd4c_status nd4c_meshgrid(const nd4c_array *const *xs, bool swapped, nd4c_array **outputs, int32_t count) {
  int64_t shape[ND4C_MAX_RANK];
  nd4c_status status = check_lists("nd4c_meshgrid", xs, outputs, count);
  ND4C_TRY(status);
  ND4C_TRY(check_arrays("nd4c_meshgrid", xs, count));
  if (count > ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_SHAPE, "nd4c_meshgrid: %d arrays, expected at most %d", (int)count, ND4C_MAX_RANK);
  }
  bool exchange = swapped && count >= 2;
  for (int32_t i = 0; i < count; i++) {
    if (nd4c_array_rank(xs[i]) > 1) {
      return nd4c_fail(ND4C_SHAPE, "nd4c_meshgrid: xs[%d] has %d axes, expected at most 1", (int)i,
                       (int)nd4c_array_rank(xs[i]));
    }
    shape[exchange && i < 2 ? 1 - i : i] = nd4c_array_size(xs[i]);
  }
  int32_t made = 0;
  for (; made < count && status == ND4C_OK; made++) {
    status = spread(xs[made], exchange && made < 2 ? 1 - made : made, count, shape, &outputs[made]);
  }
  return finish(status, outputs, made);
}
