#include "backends/cpu/window.h"

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
  int64_t auto_pad = attrs[at.auto_pad].as.i;
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
  const nd4c_cpu_window_attrs at = {ND4C_ATTR_conv_strides, ND4C_ATTR_conv_pads, ND4C_ATTR_conv_dilations,
                                    ND4C_ATTR_conv_auto_pad};
  nd4c_cpu_window(call, at, call->inputs[ND4C_IN_conv_w].shape + 2, window);
}

void nd4c_cpu_pool_window(const nd4c_call *call, nd4c_ref_window *window) {
  const nd4c_cpu_window_attrs at = {ND4C_ATTR_max_pool_strides, ND4C_ATTR_max_pool_pads, ND4C_ATTR_max_pool_dilations,
                                    ND4C_ATTR_max_pool_auto_pad};
  nd4c_cpu_window(call, at, call->attrs[ND4C_ATTR_max_pool_kernel].as.ints, window);
}
