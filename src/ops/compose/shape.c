/* Composites that cut, join and fill up. import/onnx/ops calls them, most of all control.c and sequence.c. */
#include <inttypes.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/status.h"
#include "nd4c/extent.h"
#include "ops/compose/compose.h"

nd4c_status nd4c_compose_check_number(int64_t extent, const char *what) {
  return nd4c_extent_is_symbolic(extent)
             ? nd4c_fail(ND4C_UNSUPPORTED, "%s is an extent of the graph's dims, expected a number", what)
             : ND4C_OK;
}

nd4c_status nd4c_compose_split(nd4c_emitter *e, nd4c_emitted x, int32_t axis, int32_t count, const int64_t *lengths,
                               bool squeeze, nd4c_emitted *parts) {
  const int64_t extent = nd4c_emitted_get(e, x).shape[axis], along = axis;
  int64_t start = 0;
  ND4C_TRY(nd4c_compose_check_number(extent, "the length of an axis in parts"));
  for (int32_t i = 0; i < count; i++) {
    if (lengths[i] < 0 || lengths[i] > extent - start) {
      return nd4c_fail(ND4C_SHAPE, "part %d of %" PRId64 " from %" PRId64 " on leaves the axis of %" PRId64, (int)i,
                       lengths[i], start, extent);
    }
    ND4C_TRY(nd4c_emit_slice(e, x, along, start, start + lengths[i], 1, &parts[i]));
    if (squeeze) {
      ND4C_TRY(nd4c_emit_axes(e, ND4C_OP_squeeze, parts[i], 1, &along, &parts[i]));
    }
    start += lengths[i];
  }
  return start == extent ? ND4C_OK
                         : nd4c_fail(ND4C_SHAPE, "parts of %" PRId64 " in all; expected %" PRId64, start, extent);
}

nd4c_status nd4c_compose_select(nd4c_emitter *e, nd4c_emitted x, int64_t axis, int64_t index, nd4c_emitted *y) {
  ND4C_TRY(nd4c_emit_slice(e, x, axis, index, index + 1, 1, y));
  return nd4c_emit_axes(e, ND4C_OP_squeeze, *y, 1, &axis, y);
}

nd4c_status nd4c_compose_stack(nd4c_emitter *e, const nd4c_emitted *items, int32_t count, int64_t axis,
                               nd4c_emitted *y) {
  int32_t fixed = 0;
  ND4C_TRY(nd4c_axis_normalize(axis, nd4c_emitted_get(e, items[0]).rank + 1, "axis", &fixed));
  nd4c_emitted *parts = nd4c_allocate((size_t)count * sizeof *parts);
  if (parts == NULL) {
    return nd4c_fail_memory("the items of a stack", (size_t)count * sizeof *parts);
  }
  axis = fixed;
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = nd4c_emit_axes(e, ND4C_OP_expand_dims, items[i], 1, &axis, &parts[i]);
  }
  if (status == ND4C_OK) {
    status = nd4c_emit_along(e, ND4C_OP_concat, parts, count, axis, y);
  }
  nd4c_deallocate(parts);
  return status;
}

nd4c_status nd4c_compose_fit(nd4c_emitter *e, nd4c_emitted x, int32_t axis, int64_t length, nd4c_emitted *y) {
  nd4c_emitted_info info = nd4c_emitted_get(e, x);
  nd4c_emitted parts[] = {x, ND4C_EMITTED_NONE};
  *y = x;
  ND4C_TRY(nd4c_compose_check_number(info.shape[axis], "the length of an axis"));
  if (length <= info.shape[axis]) {
    return length == info.shape[axis] ? ND4C_OK : nd4c_emit_slice(e, x, axis, 0, length, 1, y);
  }
  info.shape[axis] = length - info.shape[axis];
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, &parts[1]));
  return nd4c_emit_along(e, ND4C_OP_concat, parts, 2, axis, y);
}

nd4c_status nd4c_compose_center(nd4c_emitter *e, nd4c_emitted x, int32_t axis, int64_t length, nd4c_emitted *y) {
  nd4c_emitted_info info = nd4c_emitted_get(e, x);
  nd4c_emitted parts[] = {ND4C_EMITTED_NONE, x, ND4C_EMITTED_NONE};
  const int64_t extent = info.shape[axis];
  ND4C_TRY(nd4c_compose_check_number(extent, "the length of an axis"));
  if (length < 0) {
    return nd4c_fail(ND4C_SHAPE, "length %" PRId64 " for axis %d; expected 0 or more", length, (int)axis);
  }
  if (length <= extent) {
    const int64_t start = (extent - length) / 2;
    return nd4c_emit_slice(e, x, axis, start, start + length, 1, y);
  }
  info.shape[axis] = (length - extent) / 2;
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, &parts[0]));
  info.shape[axis] = length - extent - info.shape[axis];
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, &parts[2]));
  return nd4c_emit_along(e, ND4C_OP_concat, parts, 3, axis, y);
}

/* x with a new axis of `times` at `place`, joined with `axis` into one. */
static nd4c_status spread(nd4c_emitter *e, nd4c_emitted x, int32_t axis, int32_t place, int64_t times,
                          nd4c_emitted *y) {
  nd4c_emitted_info info = nd4c_emitted_get(e, x);
  int64_t shape[ND4C_MAX_RANK];
  const int64_t at = place, extent = info.shape[axis];
  ND4C_TRY(nd4c_compose_check_number(extent, "the length of an axis that is repeated"));
  if (info.rank == ND4C_MAX_RANK || times < 0 || !nd4c_checked_multiply(extent, times, &info.shape[axis])) {
    return nd4c_fail(ND4C_OVERFLOW, "%" PRId64 " times %" PRId64 " along axis %d of rank %d", times, extent, (int)axis,
                     (int)info.rank);
  }
  for (int32_t i = 0; i <= info.rank; i++) {
    const int32_t from = i < place ? i : i - 1;
    shape[i] = i == place ? times : from == axis ? extent : info.shape[from];
  }
  ND4C_TRY(nd4c_emit_axes(e, ND4C_OP_expand_dims, x, 1, &at, y));
  ND4C_TRY(nd4c_emit_broadcast(e, *y, info.rank + 1, shape, y));
  return nd4c_emit_reshape(e, *y, info.rank, info.shape, y);
}

nd4c_status nd4c_compose_tile(nd4c_emitter *e, nd4c_emitted x, int32_t axis, int64_t times, nd4c_emitted *y) {
  return spread(e, x, axis, axis, times, y);
}

nd4c_status nd4c_compose_repeat(nd4c_emitter *e, nd4c_emitted x, int32_t axis, int64_t times, nd4c_emitted *y) {
  return spread(e, x, axis, axis + 1, times, y);
}
