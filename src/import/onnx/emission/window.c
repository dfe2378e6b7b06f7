/* Attributes that ops with windows share. */
#include "import/onnx/emission/window.h"

#include "base/status.h"

nd4c_status nd4c_onnx_window_ints(nd4c_onnx_emission *emission, const char *onnx, const char *name,
                                  nd4c_onnx_window *window) {
  const int64_t *values = NULL;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, onnx, &values, &count));
  if (count > 0) {
    window->attrs[window->count++] = nd4c_attr_of_ints(name, values, count);
  }
  return ND4C_OK;
}

static nd4c_status add_auto_pad(nd4c_onnx_emission *emission, nd4c_onnx_window *window) {
  static const struct {
    const char *name;
    int64_t value;
  } modes[] = {{"NOTSET", ND4C_AUTO_PAD_EXPLICIT},
               {"SAME_UPPER", ND4C_AUTO_PAD_SAME_UPPER},
               {"SAME_LOWER", ND4C_AUTO_PAD_SAME_LOWER},
               {"VALID", ND4C_AUTO_PAD_VALID}};
  nd4c_span mode;
  ND4C_TRY(nd4c_onnx_get_text(emission, "auto_pad", "NOTSET", &mode));
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    if (nd4c_span_is(mode, modes[i].name)) {
      window->attrs[window->count++] = nd4c_attr_of_int("auto_pad", modes[i].value);
      return ND4C_OK;
    }
  }
  return nd4c_fail(ND4C_FORMAT, "attribute 'auto_pad' is %s, expected NOTSET, SAME_UPPER, SAME_LOWER or VALID",
                   nd4c_span_show(mode).text);
}

nd4c_status nd4c_onnx_read_window(nd4c_onnx_emission *emission, nd4c_onnx_window *window) {
  *window = (nd4c_onnx_window){0};
  ND4C_TRY(nd4c_onnx_window_ints(emission, "strides", "strides", window));
  ND4C_TRY(nd4c_onnx_window_ints(emission, "pads", "pads", window));
  ND4C_TRY(nd4c_onnx_window_ints(emission, "dilations", "dilations", window));
  return add_auto_pad(emission, window);
}

/* kernel_shape repeats what the weights' shape says. */
nd4c_status nd4c_onnx_check_kernel_shape(nd4c_onnx_emission *emission) {
  return nd4c_onnx_check_kernel_shape_of(emission, 1);
}

nd4c_status nd4c_onnx_check_kernel_shape_of(nd4c_onnx_emission *emission, int32_t weights) {
  const int64_t *kernel = NULL;
  int32_t count = 0;
  nd4c_emitted_info w = nd4c_emitted_get(&emission->emitter, emission->inputs[weights]);
  ND4C_TRY(nd4c_onnx_get_ints(emission, "kernel_shape", &kernel, &count));
  if (kernel == NULL) {
    return ND4C_OK;
  }
  bool agrees = count == w.rank - 2;
  for (int32_t i = 0; agrees && i < count; i++) {
    agrees = kernel[i] == w.shape[i + 2];
  }
  return agrees ? ND4C_OK : nd4c_fail(ND4C_SHAPE, "attribute 'kernel_shape' does not agree with the weights' shape");
}

nd4c_status nd4c_onnx_read_pool(nd4c_onnx_emission *emission, nd4c_onnx_window *window) {
  int64_t ceil_mode = 0;
  ND4C_TRY(nd4c_onnx_read_window(emission, window));
  if (nd4c_onnx_attribute_find(emission, "kernel_shape") == NULL) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'kernel_shape' is missing");
  }
  ND4C_TRY(nd4c_onnx_window_ints(emission, "kernel_shape", "kernel", window));
  ND4C_TRY(nd4c_onnx_get_int(emission, "ceil_mode", 0, &ceil_mode));
  window->attrs[window->count++] = nd4c_attr_of_bool("ceil_mode", ceil_mode != 0);
  return ND4C_OK;
}
