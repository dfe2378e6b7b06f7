/* Windows of conv and pool calls (window.h), for the reference, engine simd and oneDNN. */
#include "backends/cpu/support/window.h"

static int64_t list_at(const nd4c_attr_value *list, int32_t index, int64_t otherwise) {
  return index < list->count ? list->as.ints[index] : otherwise;
}

/* SAME_*: as much padding as lets the output have the extent that inference gave it. */
static void pad_same(nd4c_ref_window *window, int32_t axis, int64_t output, bool upper) {
  int64_t reach = (output - 1) * window->stride[axis] + (window->kernel[axis] - 1) * window->dilation[axis] + 1;
  int64_t total = reach > window->input[axis] ? reach - window->input[axis] : 0;
  window->pad_begin[axis] = upper ? total / 2 : total - total / 2;
  window->pad_end[axis] = total - window->pad_begin[axis];
}

void nd4c_cpu_window(const nd4c_call *call, nd4c_cpu_window_attrs at, const int64_t *kernel, nd4c_ref_window *window) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const nd4c_attr_value *attrs = call->attrs;
  int64_t auto_pad = at.auto_pad < 0 ? ND4C_AUTO_PAD_EXPLICIT : attrs[at.auto_pad].as.i;
  *window = (nd4c_ref_window){.spatial = x->rank - 2};
  for (int32_t i = 0; i < window->spatial; i++) {
    window->input[i] = x->shape[i + 2];
    window->kernel[i] = kernel[i];
    window->stride[i] = list_at(&attrs[at.strides], i, 1);
    window->dilation[i] = list_at(&attrs[at.dilations], i, 1);
    if (auto_pad == ND4C_AUTO_PAD_SAME_UPPER || auto_pad == ND4C_AUTO_PAD_SAME_LOWER) {
      pad_same(window, i, y->shape[i + 2], auto_pad == ND4C_AUTO_PAD_SAME_UPPER);
    } else if (auto_pad == ND4C_AUTO_PAD_EXPLICIT) {
      window->pad_begin[i] = list_at(&attrs[at.pads], i, 0);
      window->pad_end[i] = list_at(&attrs[at.pads], window->spatial + i, 0);
    }
  }
}

void nd4c_cpu_conv_window(const nd4c_call *call, nd4c_ref_window *window) {
  const nd4c_cpu_window_attrs at = ND4C_CPU_WINDOW_ATTRS(conv);
  nd4c_cpu_window(call, at, call->inputs[ND4C_IN_conv_w].shape + 2, window);
}

void nd4c_cpu_pool_window(const nd4c_call *call, nd4c_ref_window *window) {
  const nd4c_cpu_window_attrs at = ND4C_CPU_WINDOW_ATTRS(max_pool);
  nd4c_cpu_window(call, at, call->attrs[ND4C_ATTR_max_pool_kernel].as.ints, window);
}

/* Cells cut off before the first: as given, or the share of what output_shape and `same` leave over. */
static int64_t transposed_pad(const nd4c_call *call, const nd4c_ref_window *w, int32_t axis) {
  const nd4c_attr_value *attrs = call->attrs;
  int64_t auto_pad = ND4C_INT_OF(call, conv_transpose_auto_pad);
  bool same = auto_pad == ND4C_AUTO_PAD_SAME_UPPER || auto_pad == ND4C_AUTO_PAD_SAME_LOWER;
  if (attrs[ND4C_ATTR_conv_transpose_output_shape].count == 0 && !same) {
    return list_at(&attrs[ND4C_ATTR_conv_transpose_pads], axis, 0);
  }
  int64_t total = (w->input[axis] - 1) * w->stride[axis] + (w->kernel[axis] - 1) * w->dilation[axis] + 1 +
                  list_at(&attrs[ND4C_ATTR_conv_transpose_output_padding], axis, 0) - call->outputs[0].shape[axis + 2];
  total = total > 0 ? total : 0;
  return auto_pad == ND4C_AUTO_PAD_SAME_UPPER ? total / 2 : total - total / 2;
}

void nd4c_cpu_conv_transpose_window(const nd4c_call *call, nd4c_ref_window *window) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_transpose_x], *w = &call->inputs[ND4C_IN_conv_transpose_w];
  *window = (nd4c_ref_window){.spatial = x->rank - 2};
  for (int32_t i = 0; i < window->spatial; i++) {
    window->input[i] = x->shape[i + 2];
    window->kernel[i] = w->shape[i + 2];
    window->stride[i] = list_at(&call->attrs[ND4C_ATTR_conv_transpose_strides], i, 1);
    window->dilation[i] = list_at(&call->attrs[ND4C_ATTR_conv_transpose_dilations], i, 1);
    window->pad_begin[i] = transposed_pad(call, window, i);
  }
}

int64_t nd4c_cpu_cell_step(const nd4c_tensor *x) {
  int64_t step = x->shape[1], cells = 1;
  for (int32_t i = x->rank - 1; i >= 1; i--) {
    const int32_t axis = i == 1 ? 0 : i; /* the batch is the outermost axis */
    if (x->shape[axis] == 1) {
      continue;
    }
    step = cells == 1 ? x->strides[axis] : step;
    if (x->strides[axis] != step * cells) {
      return 0;
    }
    cells *= x->shape[axis];
  }
  return x->shape[1] == 1 || x->strides[1] == 1 ? step : 0;
}

bool nd4c_cpu_sees_one_cell(const nd4c_ref_window *w, const nd4c_tensor *x, const nd4c_tensor *y) {
  bool one = true;
  for (int32_t i = 0; i < w->spatial; i++) {
    one = one && w->kernel[i] == 1 && w->stride[i] == 1 && w->pad_begin[i] == 0 && x->shape[i + 2] == y->shape[i + 2];
  }
  return one;
}

nd4c_ref_sweep nd4c_cpu_sweep(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_ref_sweep s = {.batch = x->shape[0], .channels = x->shape[1], .outputs = y->shape[1], .groups = 1};
  for (int32_t i = 0; i < 3; i++) {
    int32_t own = i - (5 - x->rank);
    s.x[i] = own < 0 ? 1 : x->shape[own + 2];
    s.y[i] = own < 0 ? 1 : y->shape[own + 2];
    s.kernel[i] = s.stride[i] = s.dilation[i] = 1;
  }
  return s;
}

nd4c_ref_sweep nd4c_cpu_sweep_with(const nd4c_call *call, const nd4c_ref_window *window) {
  nd4c_ref_sweep s = nd4c_cpu_sweep(call);
  for (int32_t i = 0; i < window->spatial; i++) {
    int32_t axis = 3 - window->spatial + i;
    s.kernel[axis] = window->kernel[i];
    s.stride[axis] = window->stride[i];
    s.dilation[axis] = window->dilation[i];
    s.pad[axis] = window->pad_begin[i];
    s.pad_end[axis] = window->pad_end[i];
  }
  return s;
}

int64_t nd4c_cpu_pool_index(const nd4c_call *call, const nd4c_ref_sweep *s, int64_t row, int64_t index) {
  bool column_major = ND4C_FLAG_OF(call, max_pool_with_indices_column_major);
  bool planar = ND4C_FLAG_OF(call, max_pool_with_indices_planar);
  int64_t base = planar ? 0 : row * s->x[0] * s->x[1] * s->x[2];
  if (index < 0 || !column_major) {
    return index < 0 ? index : base + index;
  }
  int64_t i = index / (s->x[1] * s->x[2]), j = index / s->x[2] % s->x[1], k = index % s->x[2];
  return base + (k * s->x[1] + j) * s->x[0] + i;
}

int64_t nd4c_cpu_unpooled_extent(const nd4c_call *call, int32_t i) {
  const nd4c_attr_value *attrs = call->attrs, *pads = &attrs[ND4C_ATTR_max_unpool_pads];
  const nd4c_tensor *x = &call->inputs[0];
  if (ND4C_FLAG_OF(call, max_unpool_planar)) {
    return call->outputs[0].shape[i + 2];
  }
  return x->shape[i + 2] == 0 ? 0
                              : (x->shape[i + 2] - 1) * list_at(&attrs[ND4C_ATTR_max_unpool_strides], i, 1) +
                                    list_at(&attrs[ND4C_ATTR_max_unpool_kernel], i, 1) - list_at(pads, i, 0) -
                                    list_at(pads, x->rank - 2 + i, 0);
}
