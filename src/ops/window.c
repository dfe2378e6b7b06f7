/* Windows of conv and pools: paddings and output extents, every number hostile until checked. */
#include "base/checked.h"
#include "base/status.h"
#include "ops/op.h"

#define COUNT_ROW(NAME, number, name) +1
enum { AUTO_PAD_COUNT = 0 ND4C_AUTO_PAD_TABLE(COUNT_ROW) };

/* One value an axis, all at least `least`; an empty list stands for `preset`. */
static nd4c_status take_list(const nd4c_op_info *op, const char *attr, const nd4c_attr_value *list, int32_t count,
                             int64_t preset, int64_t least, int64_t *values) {
  if (list->count != 0 && list->count != count) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: attribute %s has %d values, expected %d", op->name, attr, (int)list->count,
                     (int)count);
  }
  for (int32_t i = 0; i < count; ++i) {
    values[i] = list->count == 0 ? preset : list->as.ints[i];
    if (values[i] < least) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: attribute %s has the value %lld, expected at least %lld", op->name, attr,
                       (long long)values[i], (long long)least);
    }
  }
  return ND4C_OK;
}

static nd4c_status too_large(const nd4c_op_info *op, int32_t axis) {
  return nd4c_fail(ND4C_OVERFLOW, "%s: the window of spatial axis %d exceeds 64 bits", op->name, (int)axis);
}

/* Cells from the first to the last tap of a window. */
static nd4c_status window_reach(const nd4c_op_info *op, const nd4c_window *window, int32_t axis, int64_t *reach) {
  if (!nd4c_checked_multiply(window->kernel[axis] - 1, window->dilation[axis], reach) ||
      !nd4c_checked_add(*reach, 1, reach)) {
    return too_large(op, axis);
  }
  return ND4C_OK;
}

static nd4c_status resolve_same(const nd4c_op_info *op, nd4c_window *window, int32_t axis, bool upper) {
  int64_t input = window->input[axis], stride = window->stride[axis], reach, total = 0;
  ND4C_TRY(window_reach(op, window, axis, &reach));
  if (input == 0) {
    window->output[axis] = 0;
    return ND4C_OK;
  }
  window->output[axis] = 1 + (input - 1) / stride;
  /* (output - 1) * stride is less than input, so only adding the reach may overflow. */
  if (!nd4c_checked_add((window->output[axis] - 1) * stride, reach, &total)) {
    return too_large(op, axis);
  }
  total = total > input ? total - input : 0;
  window->pad_begin[axis] = upper ? total / 2 : total - total / 2;
  window->pad_end[axis] = total - window->pad_begin[axis];
  return ND4C_OK;
}

static nd4c_status resolve_explicit(const nd4c_op_info *op, nd4c_window *window, int32_t axis, bool ceil_mode) {
  int64_t input = window->input[axis], stride = window->stride[axis], reach, padded;
  ND4C_TRY(window_reach(op, window, axis, &reach));
  if (!nd4c_checked_add(input, window->pad_begin[axis], &padded) ||
      !nd4c_checked_add(padded, window->pad_end[axis], &padded)) {
    return too_large(op, axis);
  }
  if (padded < reach) {
    return nd4c_fail(ND4C_SHAPE,
                     "%s: the window of spatial axis %d reaches over %lld cells (kernel %lld, dilation %lld), "
                     "expected at most the padded input's %lld",
                     op->name, (int)axis, (long long)reach, (long long)window->kernel[axis],
                     (long long)window->dilation[axis], (long long)padded);
  }
  int64_t slack = padded - reach, steps = slack / stride;
  /* A last, partial window counts if it starts inside the input or the padding before it. */
  if (ceil_mode && slack % stride != 0 && steps + 1 <= (input + window->pad_begin[axis] - 1) / stride) {
    ++steps;
  }
  if (!nd4c_checked_add(steps, 1, &window->output[axis])) {
    return too_large(op, axis);
  }
  return ND4C_OK;
}

static nd4c_status take_pads(const nd4c_op_info *op, const nd4c_attr_value *pads, int64_t auto_pad,
                             nd4c_window *window) {
  int64_t values[6];
  ND4C_TRY(take_list(op, "pads", pads, 2 * window->spatial, 0, 0, values));
  for (int32_t i = 0; i < window->spatial; ++i) {
    window->pad_begin[i] = values[i];
    window->pad_end[i] = values[window->spatial + i];
    if (auto_pad != ND4C_AUTO_PAD_EXPLICIT && (window->pad_begin[i] != 0 || window->pad_end[i] != 0)) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: attribute pads is given beside auto_pad %lld, expected one of the two",
                       op->name, (long long)auto_pad);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_window_resolve(const nd4c_op_info *op, int32_t spatial, const int64_t *input, const int64_t *kernel,
                                const nd4c_attr_value *strides, const nd4c_attr_value *pads,
                                const nd4c_attr_value *dilations, int64_t auto_pad, bool ceil_mode,
                                nd4c_window *window) {
  if (spatial < 1 || spatial > 3) {
    return nd4c_fail(ND4C_SHAPE, "%s: %d spatial axes given, expected 1 to 3", op->name, (int)spatial);
  }
  if (auto_pad < 0 || auto_pad >= AUTO_PAD_COUNT) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: auto_pad is %lld, expected 0 to %d", op->name, (long long)auto_pad,
                     AUTO_PAD_COUNT - 1);
  }
  window->spatial = spatial;
  ND4C_TRY(take_list(op, "strides", strides, spatial, 1, 1, window->stride));
  ND4C_TRY(take_list(op, "dilations", dilations, spatial, 1, 1, window->dilation));
  ND4C_TRY(take_pads(op, pads, auto_pad, window));
  for (int32_t i = 0; i < spatial; ++i) {
    window->input[i] = input[i];
    window->kernel[i] = kernel[i];
    if (kernel[i] < 1 || input[i] < 0) {
      return nd4c_fail(ND4C_SHAPE,
                       "%s: the window of spatial axis %d has %lld cells over an input of %lld, expected at "
                       "least 1 cell",
                       op->name, (int)i, (long long)kernel[i], (long long)input[i]);
    }
    bool same = auto_pad == ND4C_AUTO_PAD_SAME_UPPER || auto_pad == ND4C_AUTO_PAD_SAME_LOWER;
    ND4C_TRY(same ? resolve_same(op, window, i, auto_pad == ND4C_AUTO_PAD_SAME_UPPER)
                  : resolve_explicit(op, window, i, ceil_mode));
  }
  return ND4C_OK;
}
