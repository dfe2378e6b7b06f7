/* Convolution, batch_norm, softmax and lrn of engine reference. */
#include "backends/cpu/reference/work.h"
#include "backends/cpu/support/window.h"

ND4C_CPU_RANGE(conv_range, nd4c_ref_conv)

static nd4c_status conv_run(const nd4c_call *call) {
  nd4c_ref_conv_args args = {
      .x = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_conv_x]),
      .w = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_conv_w]),
      .bias = nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_conv_bias)),
      .addend = nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_conv_addend)),
      .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
      .groups = call->attrs[ND4C_ATTR_conv_groups].as.i,
      .activation = call->attrs[ND4C_ATTR_conv_activation].as.i,
  };
  nd4c_cpu_conv_window(call, &args.window);
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w];
  int64_t work = w->shape[0] > 0 ? w->size / w->shape[0] : 0;
  nd4c_cpu_host->parallel_for(call->outputs[0].size, nd4c_cpu_grain(work), call->width, conv_range, &args);
  return ND4C_OK;
}

/* The same convolution for every channel, into doubles, then one of 1 x 1 cells. */
static nd4c_status separable_conv2d_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *depthwise = &call->inputs[ND4C_IN_separable_conv2d_depthwise];
  const nd4c_tensor *y = &call->outputs[0];
  const nd4c_cpu_window_attrs at = {ND4C_ATTR_separable_conv2d_strides, ND4C_ATTR_separable_conv2d_pads,
                                    ND4C_ATTR_separable_conv2d_dilations, ND4C_ATTR_separable_conv2d_auto_pad};
  int64_t cells = y->shape[2] * y->shape[3], middles = depthwise->shape[0];
  const int64_t shape[4] = {x->shape[0], middles, y->shape[2], y->shape[3]};
  const int64_t strides[4] = {middles * cells, cells, y->shape[3], 1};
  nd4c_cpu_work work = {0};
  double *between = nd4c_cpu_work_make(&work, x->shape[0] * middles * cells);
  nd4c_ref_tensor middle = {ND4C_FLOAT64, 4, shape, strides, (char *)between};
  nd4c_ref_conv_args first = {
      .x = nd4c_cpu_ref_tensor(x), .w = nd4c_cpu_ref_tensor(depthwise), .y = middle, .groups = x->shape[1]};
  nd4c_ref_conv_args second = {.x = middle,
                               .w = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_separable_conv2d_pointwise]),
                               .bias = nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_separable_conv2d_bias)),
                               .y = nd4c_cpu_ref_tensor(y),
                               .window = {2, {shape[2], shape[3]}, {1, 1}, {1, 1}, {1, 1}, {0}, {0}},
                               .groups = 1};
  nd4c_cpu_window(call, at, depthwise->shape + 2, &first.window);
  if (!work.failed) {
    int64_t taps = depthwise->shape[2] * depthwise->shape[3];
    nd4c_cpu_host->parallel_for(x->shape[0] * middles * cells, nd4c_cpu_grain(taps), call->width, conv_range, &first);
    nd4c_cpu_host->parallel_for(y->size, nd4c_cpu_grain(middles), call->width, conv_range, &second);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

ND4C_CPU_RANGE(batch_norm_range, nd4c_ref_batch_norm)

static nd4c_status batch_norm_run(const nd4c_call *call) {
  nd4c_ref_norm_args args = {
      .x = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_batch_norm_x]),
      .scale = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_batch_norm_scale]),
      .bias = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_batch_norm_bias]),
      .mean = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_batch_norm_mean]),
      .variance = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_batch_norm_variance]),
      .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
      .epsilon = call->attrs[ND4C_ATTR_batch_norm_epsilon].as.f,
  };
  nd4c_cpu_host->parallel_for(call->outputs[0].size, nd4c_cpu_grain(8), call->width, batch_norm_range, &args);
  return ND4C_OK;
}

typedef struct softmax_args {
  nd4c_ref_tensor x, y;
  int32_t axis;
  bool logarithm;
} softmax_args;

static void softmax_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const softmax_args *args = user;
  (void)worker;
  nd4c_ref_softmax(&args->x, &args->y, args->axis, args->logarithm, begin, end);
}

static nd4c_status softmax_any(const nd4c_call *call, bool logarithm) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_softmax_x];
  softmax_args args = {.x = nd4c_cpu_ref_tensor(x),
                       .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
                       .axis = nd4c_axis(call->attrs[ND4C_ATTR_softmax_axis].as.i, x->rank),
                       .logarithm = logarithm};
  int64_t length = x->shape[args.axis];
  if (length > 0) {
    nd4c_cpu_host->parallel_for(x->size / length, nd4c_cpu_grain(8 * length), call->width, softmax_range, &args);
  }
  return ND4C_OK;
}

static nd4c_status softmax_run(const nd4c_call *call) {
  return softmax_any(call, false);
}

static nd4c_status log_softmax_run(const nd4c_call *call) {
  return softmax_any(call, true);
}

ND4C_CPU_RANGE(lrn_range, nd4c_ref_lrn)

static nd4c_status lrn_run(const nd4c_call *call) {
  nd4c_ref_lrn_args args = {
      .x = nd4c_cpu_ref_tensor(&call->inputs[ND4C_IN_lrn_x]),
      .y = nd4c_cpu_ref_tensor(&call->outputs[0]),
      .size = call->attrs[ND4C_ATTR_lrn_size].as.i,
      .alpha = call->attrs[ND4C_ATTR_lrn_alpha].as.f,
      .beta = call->attrs[ND4C_ATTR_lrn_beta].as.f,
      .bias = call->attrs[ND4C_ATTR_lrn_bias].as.f,
  };
  nd4c_cpu_host->parallel_for(call->outputs[0].size, nd4c_cpu_grain(args.size + 16), call->width, lrn_range, &args);
  return ND4C_OK;
}

/* The kernels count activations as the op table does. */
_Static_assert(ND4C_ACTIVATION_NONE == 0 && ND4C_ACTIVATION_RELU == 1 && ND4C_ACTIVATION_GELU == 2 &&
                   ND4C_ACTIVATION_GELU_TANH == 3 && ND4C_ACTIVATION_SIGMOID == 4 && ND4C_ACTIVATION_TANH == 5,
               "kernels/reference/contraction/activation.c");

const nd4c_kernel *const nd4c_cpu_reference_window_conv_kernels[] = {
    ND4C_CPU_REFERENCE_KERNEL(conv, ND4C_CPU_FLOATS, conv_run),
    ND4C_CPU_REFERENCE_KERNEL(batch_norm, ND4C_CPU_FLOATS, batch_norm_run),
    ND4C_CPU_REFERENCE_KERNEL(softmax, ND4C_CPU_FLOATS, softmax_run),
    ND4C_CPU_REFERENCE_KERNEL(log_softmax, ND4C_CPU_FLOATS, log_softmax_run),
    ND4C_CPU_REFERENCE_KERNEL(lrn, ND4C_CPU_FLOATS, lrn_run),
    ND4C_CPU_REFERENCE_KERNEL(separable_conv2d, ND4C_CPU_FLOATS, separable_conv2d_run),
    NULL};
