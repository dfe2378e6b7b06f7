/* Implements sweep.h: reads windows, strides and extents from a call of conv or pool. families/window_conv.c and
 * window_pool.c call it. */
#include "backends/opencl/support/sweep.h"

void nd4c_cl_sweep_strides(const nd4c_tensor *tensor, int32_t leading, int64_t *strides) {
  for (int32_t i = 0; i < 5; i++) {
    strides[i] = 0;
  }
  for (int32_t i = 0; tensor != NULL && i < tensor->rank; i++) {
    strides[i < leading ? 2 - leading + i : 5 - tensor->rank + i] = tensor->strides[i];
  }
}

void nd4c_cl_sweep_extents(const nd4c_call *call, nd4c_cl_sweep *s) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  *s = (nd4c_cl_sweep){.batch = x->shape[0], .channels = x->shape[1], .outputs = y->shape[1], .groups = 1};
  for (int32_t axis = 0; axis < 3; axis++) {
    int32_t own = axis - (5 - x->rank);
    s->x[axis] = own < 0 ? 1 : x->shape[own + 2];
    s->y[axis] = own < 0 ? 1 : y->shape[own + 2];
    s->kernel[axis] = s->stride[axis] = s->dilation[axis] = 1;
  }
  nd4c_cl_sweep_strides(x, 2, s->x_strides);
  nd4c_cl_sweep_strides(y, 2, s->y_strides);
}

/* SAME_*: as much padding as lets the output have the extent that inference gave it. */
static void pad_same(nd4c_cl_sweep *s, int32_t axis, bool upper) {
  int64_t reach = (s->y[axis] - 1) * s->stride[axis] + (s->kernel[axis] - 1) * s->dilation[axis] + 1;
  int64_t total = reach > s->x[axis] ? reach - s->x[axis] : 0;
  s->pad[axis] = upper ? total / 2 : total - total / 2;
  s->pad_end[axis] = total - s->pad[axis];
}

void nd4c_cl_sweep_window(const nd4c_call *call, nd4c_cl_window_attrs at, const int64_t *kernel, nd4c_cl_sweep *s) {
  const nd4c_attr_value *attrs = call->attrs;
  int32_t spatial = call->inputs[0].rank - 2;
  int64_t auto_pad = at.auto_pad >= 0 ? attrs[at.auto_pad].as.i : ND4C_AUTO_PAD_EXPLICIT;
  nd4c_cl_sweep_extents(call, s);
  for (int32_t own = 0; own < spatial; own++) {
    int32_t axis = 3 - spatial + own;
    s->kernel[axis] = kernel[own];
    s->stride[axis] = nd4c_cl_list_at(&attrs[at.strides], own, 1);
    s->dilation[axis] = nd4c_cl_list_at(&attrs[at.dilations], own, 1);
    if (auto_pad == ND4C_AUTO_PAD_SAME_UPPER || auto_pad == ND4C_AUTO_PAD_SAME_LOWER) {
      pad_same(s, axis, auto_pad == ND4C_AUTO_PAD_SAME_UPPER);
    } else if (auto_pad == ND4C_AUTO_PAD_EXPLICIT) {
      s->pad[axis] = nd4c_cl_list_at(&attrs[at.pads], own, 0);
      s->pad_end[axis] = nd4c_cl_list_at(&attrs[at.pads], spatial + own, 0);
    }
  }
}

int64_t nd4c_cl_sweep_outputs(const nd4c_cl_sweep *s) {
  return s->batch * s->outputs * s->y[0] * s->y[1] * s->y[2];
}
