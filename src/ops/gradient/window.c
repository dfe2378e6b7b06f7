/* Windows of convolutions and pools for the rules of layer.c and pool.c: sums over windows, and back. */
#include "base/status.h"
#include "ops/gradient/gradient.h"

static int64_t item_of(const nd4c_attr_value *list, int32_t index, int64_t preset) {
  return list->count > index && list->as.ints != NULL ? list->as.ints[index] : preset;
}

/* The pads in front of and behind an axis, by which windows would reach `over` cells beyond it. */
static void pad_axis(const nd4c_gradient_windows *attrs, nd4c_gradient_window *window, int32_t axis, int64_t over) {
  const int64_t total = over > 0 ? over : 0;
  const int32_t spatial = window->spatial;
  int64_t begin = 0;
  switch (attrs->auto_pad) {
    case ND4C_AUTO_PAD_EXPLICIT:
      begin = item_of(attrs->pads, axis, 0);
      break;
    case ND4C_AUTO_PAD_SAME_UPPER:
      begin = total / 2;
      break;
    case ND4C_AUTO_PAD_SAME_LOWER:
      begin = total - total / 2;
      break;
    default: /* VALID */
      break;
  }
  window->pads[axis] = begin;
  window->pads[spatial + axis] = over > begin ? over - begin : 0;
  window->rest[axis] = begin > over ? begin - over : 0;
}

nd4c_status nd4c_gradient_find_window(nd4c_emitter *e, nd4c_emitted large, nd4c_emitted small, const int64_t *kernel,
                                      const nd4c_gradient_windows *attrs, nd4c_gradient_window *window) {
  const nd4c_emitted_info image = nd4c_emitted_get(e, large), cells = nd4c_emitted_get(e, small);
  *window = (nd4c_gradient_window){.spatial = image.rank - 2};
  for (int32_t i = 0; i < window->spatial; i++) {
    const int64_t stride = item_of(attrs->strides, i, 1), dilation = item_of(attrs->dilations, i, 1);
    window->large[i] = image.shape[2 + i];
    window->small[i] = cells.shape[2 + i];
    window->kernel[i] = kernel[i];
    if (window->large[i] < 1 || window->small[i] < 1 || kernel[i] < 1) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient needs numbers of at least 1 as spatial extents");
    }
    window->strides[i] = stride;
    window->dilations[i] = dilation;
    pad_axis(attrs, window, i, (window->small[i] - 1) * stride + (kernel[i] - 1) * dilation + 1 - window->large[i]);
  }
  return ND4C_OK;
}

nd4c_status nd4c_gradient_gather_windows(nd4c_emitter *e, const nd4c_gradient_window *window, nd4c_emitted large,
                                         nd4c_emitted w, int64_t groups, nd4c_emitted *small) {
  const int32_t count = window->spatial;
  const nd4c_emitted inputs[] = {large, w};
  const nd4c_attr attrs[] = {
      nd4c_attr_of_ints("strides", window->strides, count), nd4c_attr_of_ints("pads", window->pads, 2 * count),
      nd4c_attr_of_ints("dilations", window->dilations, count), nd4c_attr_of_int("groups", groups)};
  ND4C_TRY(nd4c_emit(e, ND4C_OP_conv, inputs, 2, attrs, 4, small));
  const nd4c_emitted_info made = nd4c_emitted_get(e, *small);
  for (int32_t i = 0; i < count; i++) {
    if (made.shape[2 + i] > window->small[i]) { /* the cells behind the last window make another one */
      ND4C_TRY(nd4c_emit_slice(e, *small, 2 + i, 0, window->small[i], 1, small));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_gradient_spread_windows(nd4c_emitter *e, const nd4c_gradient_window *window, nd4c_emitted small,
                                         nd4c_emitted w, int64_t groups, nd4c_emitted *large) {
  const int32_t count = window->spatial;
  const nd4c_emitted inputs[] = {small, w};
  const nd4c_attr attrs[] = {
      nd4c_attr_of_ints("strides", window->strides, count), nd4c_attr_of_ints("pads", window->pads, 2 * count),
      nd4c_attr_of_ints("dilations", window->dilations, count), nd4c_attr_of_int("groups", groups),
      nd4c_attr_of_ints("output_padding", window->rest, count)};
  return nd4c_emit(e, ND4C_OP_conv_transpose, inputs, 2, attrs, 5, large);
}
