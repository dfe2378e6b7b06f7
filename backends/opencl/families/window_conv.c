/* Convolutions: by tiles if a group has enough outputs, else with one work item for each output. dispatch/choice.c asks
 * these kernels for arrays on OpenCL devices. */
#include <string.h>

#include "backends/opencl/support/gemm.h"
#include "backends/opencl/support/sweep.h"

enum { FEW = 8 };

typedef struct conv {
  nd4c_cl_sweep sweep;
  const nd4c_tensor *x, *w, *y, *bias, *addend;
  const char *sum; /* the type that products are summed in */
  int64_t activation;
  bool in_pairs, of_pairs, to_pairs; /* sums, x, y are pairs of floats (real.cl) */
} conv;

static nd4c_cl_options conv_options(const nd4c_call *call, const conv *c, bool tiles, int64_t side) {
  const nd4c_dtype x = c->x->dtype;
  nd4c_cl_options options = {{0}};
  ND4C_CL_TYPES(&options, "ABCDY", x, c->w->dtype, nd4c_cl_dtype_of(c->bias, x), nd4c_cl_dtype_of(c->addend, x),
                c->y->dtype);
  (c->in_pairs ? nd4c_cl_define_pair : nd4c_cl_define_real)(&options, call);
  nd4c_cl_define_if(&options, c->of_pairs, "OF_PAIRS");
  nd4c_cl_define_if(&options, c->to_pairs, "TO_PAIRS");
  nd4c_cl_define(&options, "ACC", "%s", c->sum);
  nd4c_cl_define(&options, "ACTIVATION", "%d", (int)c->activation);
  nd4c_cl_define(&options, tiles ? "TILES" : "DIRECT", "1");
  if (tiles) {
    nd4c_cl_define(&options, "SIDE", "%d", (int)side);
  }
  return options;
}

/* Begins a launch; with tiles of the largest side that the kernel takes itself. */
static nd4c_status begin_conv(const nd4c_call *call, const conv *c, bool tiles, int64_t *side, nd4c_cl_launch *launch) {
  const char *source = c->in_pairs ? "wide+real+sweep+activate+conv" : "sweep+activate+conv";
  for (*side = nd4c_cl_gemm_side(call, sizeof(double));; *side /= 2) {
    nd4c_cl_options options = conv_options(call, c, tiles, *side);
    ND4C_BACKEND_TRY(nd4c_cl_begin(launch, call, source, tiles ? "conv_tiles" : "conv_direct", &options));
    if (!tiles || nd4c_cl_kernel_fit(launch->kernel, *side * *side) == *side * *side) {
      return ND4C_OK;
    }
  }
}

static nd4c_status conv_launch(const nd4c_call *call, const conv *c) {
  const nd4c_cl_sweep *s = &c->sweep;
  nd4c_cl_launch launch;
  int64_t side = 0, outputs = nd4c_cl_sweep_outputs(s);
  bool tiles = s->outputs / s->groups >= FEW && !c->in_pairs;
  if (outputs == 0) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(begin_conv(call, c, tiles, &side, &launch));
  ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(*s), ND4C_CL_IN(c->x), ND4C_CL_IN(c->w), ND4C_CL_OUT(c->y), ND4C_CL_IN(c->bias),
               ND4C_CL_LONG(nd4c_cl_stride_of(c->bias, 0)), ND4C_CL_IN(c->addend),
               ND4C_CL_INT(c->bias != NULL, c->addend != NULL));
  if (!tiles) {
    return nd4c_cl_launch_run(&launch, 1, &outputs, NULL);
  }
  /* All groups along one dimension: the others may end at 65535. */
  int64_t cells = s->y[0] * s->y[1] * s->y[2], each = s->outputs / s->groups, tile = 4 * side, group = side * side;
  int64_t global = (cells + tile - 1) / tile * ((each + tile - 1) / tile) * s->batch * s->groups * group;
  return nd4c_cl_launch_run(&launch, 1, &global, &group);
}

/* Floats of up to 32 bits are summed in float, as the libraries do. */
static nd4c_status convolve(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_cl_window_attrs at = {ND4C_ATTR_conv_strides, ND4C_ATTR_conv_pads, ND4C_ATTR_conv_dilations,
                                   ND4C_ATTR_conv_auto_pad};
  conv c = {.x = &call->inputs[ND4C_IN_conv_x],
            .w = &call->inputs[ND4C_IN_conv_w],
            .y = &call->outputs[0],
            .bias = nd4c_cl_input(call, ND4C_IN_conv_bias),
            .addend = nd4c_cl_input(call, ND4C_IN_conv_addend),
            .sum = call->outputs[0].dtype == ND4C_FLOAT64 ? "double" : "float",
            .activation = ND4C_INT_OF(call, conv_activation)};
  for (int32_t axis = 0; c.addend != NULL && axis < c.y->rank; axis++) {
    if (c.addend->rank != c.y->rank || c.addend->shape[axis] != c.y->shape[axis]) {
      return nd4c_cl_step_refuse(step, "an addend that is broadcast");
    }
  }
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  nd4c_cl_sweep_window(call, at, c.w->shape + 2, &c.sweep);
  c.sweep.groups = ND4C_INT_OF(call, conv_groups);
  nd4c_cl_sweep_strides(c.w, 2, c.sweep.w_strides);
  nd4c_cl_sweep_strides(c.addend, 2, c.sweep.z_strides);
  return conv_launch(call, &c);
}

/* -- separable_conv2d: what is between stays unrounded in the scratch buffer -------------------------------------- */

static int64_t separable_scratch(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  return y->shape[0] * call->inputs[ND4C_IN_separable_conv2d_depthwise].shape[0] * y->shape[2] * y->shape[3] *
         (int64_t)sizeof(double);
}

static nd4c_status separable_run(const nd4c_call *call) {
  const nd4c_cl_window_attrs at = {ND4C_ATTR_separable_conv2d_strides, ND4C_ATTR_separable_conv2d_pads,
                                   ND4C_ATTR_separable_conv2d_dilations, ND4C_ATTR_separable_conv2d_auto_pad};
  const nd4c_tensor *depthwise = &call->inputs[ND4C_IN_separable_conv2d_depthwise], *y = &call->outputs[0];
  int64_t middles = depthwise->shape[0], cells = y->shape[2] * y->shape[3];
  const int64_t strides[5] = {middles * cells, cells, 0, y->shape[3], 1};
  const bool pairs = !nd4c_cl_wide(call);
  nd4c_tensor middle = {.dtype = nd4c_cl_wide(call) ? ND4C_FLOAT64 : ND4C_FLOAT32, .buffer = call->scratch_buffer};
  conv first = {
      .x = &call->inputs[0], .w = depthwise, .y = &middle, .sum = "REAL", .in_pairs = pairs, .to_pairs = pairs};
  conv second = {.x = &middle,
                 .w = &call->inputs[ND4C_IN_separable_conv2d_pointwise],
                 .y = y,
                 .bias = nd4c_cl_input(call, ND4C_IN_separable_conv2d_bias),
                 .sum = "REAL",
                 .in_pairs = pairs,
                 .of_pairs = pairs};
  nd4c_cl_sweep_window(call, at, depthwise->shape + 2, &first.sweep);
  first.sweep.groups = first.sweep.channels;
  first.sweep.outputs = middles;
  nd4c_cl_sweep_strides(depthwise, 2, first.sweep.w_strides);
  nd4c_cl_sweep_extents(call, &second.sweep);
  second.sweep.channels = middles;
  nd4c_cl_sweep_strides(second.w, 2, second.sweep.w_strides);
  memcpy(first.sweep.y_strides, strides, sizeof strides);
  memcpy(second.sweep.x_strides, strides, sizeof strides);
  memcpy(second.sweep.x, second.sweep.y, sizeof second.sweep.x);
  nd4c_status status = first.sweep.groups > 0 ? conv_launch(call, &first) : ND4C_OK;
  return status == ND4C_OK ? conv_launch(call, &second) : status;
}

/* -- transposed and deformable ------------------------------------------------------------------------------------- */

static int64_t transposed_pad(const nd4c_call *call, const nd4c_cl_sweep *s, int32_t own, int32_t axis) {
  const nd4c_attr_value *attrs = call->attrs;
  int64_t auto_pad = attrs[ND4C_ATTR_conv_transpose_auto_pad].as.i;
  bool same = auto_pad == ND4C_AUTO_PAD_SAME_UPPER || auto_pad == ND4C_AUTO_PAD_SAME_LOWER;
  if (attrs[ND4C_ATTR_conv_transpose_output_shape].count == 0 && !same) {
    return nd4c_cl_list_at(&attrs[ND4C_ATTR_conv_transpose_pads], own, 0);
  }
  int64_t total = (s->x[axis] - 1) * s->stride[axis] + (s->kernel[axis] - 1) * s->dilation[axis] + 1 +
                  nd4c_cl_list_at(&attrs[ND4C_ATTR_conv_transpose_output_padding], own, 0) - s->y[axis];
  total = total > 0 ? total : 0;
  return auto_pad == ND4C_AUTO_PAD_SAME_UPPER ? total / 2 : total - total / 2;
}

static nd4c_status transposed_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *w = &call->inputs[1], *y = &call->outputs[0];
  const nd4c_tensor *bias = nd4c_cl_input(call, ND4C_IN_conv_transpose_bias);
  nd4c_cl_sweep s;
  nd4c_cl_options options = {{0}};
  nd4c_cl_sweep_extents(call, &s);
  nd4c_cl_sweep_strides(w, 2, s.w_strides);
  s.groups = ND4C_INT_OF(call, conv_transpose_groups);
  for (int32_t own = 0; own < x->rank - 2; own++) {
    int32_t axis = 5 - x->rank + own;
    s.kernel[axis] = w->shape[own + 2];
    s.stride[axis] = nd4c_cl_list_at(&call->attrs[ND4C_ATTR_conv_transpose_strides], own, 1);
    s.dilation[axis] = nd4c_cl_list_at(&call->attrs[ND4C_ATTR_conv_transpose_dilations], own, 1);
    s.pad[axis] = transposed_pad(call, &s, own, axis);
  }
  ND4C_CL_TYPES(&options, "ABCY", x->dtype, w->dtype, nd4c_cl_dtype_of(bias, x->dtype), y->dtype);
  nd4c_cl_define_real(&options, call);
  nd4c_cl_define(&options, "TRANSPOSED", "1");
  return ND4C_CL_RUN(call, "sweep+conv", "conv_transposed", options, nd4c_cl_sweep_outputs(&s), ND4C_CL_VALUE(s),
                     ND4C_CL_IN(x), ND4C_CL_IN(w), ND4C_CL_OUT(y), ND4C_CL_IN(bias),
                     ND4C_CL_LONG(nd4c_cl_stride_of(bias, 0)), ND4C_CL_INT(bias != NULL));
}

static nd4c_status deformable_run(const nd4c_call *call) {
  const nd4c_cl_window_attrs at = {ND4C_ATTR_deformable_conv_strides, ND4C_ATTR_deformable_conv_pads,
                                   ND4C_ATTR_deformable_conv_dilations, -1};
  const nd4c_tensor *x = &call->inputs[0], *w = &call->inputs[1], *y = &call->outputs[0];
  const nd4c_tensor *offset = &call->inputs[ND4C_IN_deformable_conv_offset];
  const nd4c_tensor *bias = nd4c_cl_input(call, ND4C_IN_deformable_conv_bias);
  const nd4c_tensor *mask = nd4c_cl_input(call, ND4C_IN_deformable_conv_mask);
  int64_t mask_strides[5];
  nd4c_cl_sweep s;
  nd4c_cl_options options = {{0}};
  nd4c_cl_sweep_window(call, at, w->shape + 2, &s);
  s.groups = ND4C_INT_OF(call, deformable_conv_groups);
  nd4c_cl_sweep_strides(w, 2, s.w_strides);
  nd4c_cl_sweep_strides(offset, 2, s.z_strides);
  nd4c_cl_sweep_strides(mask, 2, mask_strides);
  ND4C_CL_TYPES(&options, "ABCDEY", x->dtype, w->dtype, nd4c_cl_dtype_of(bias, x->dtype), offset->dtype,
                nd4c_cl_dtype_of(mask, x->dtype), y->dtype);
  nd4c_cl_define_pair(&options, call);
  nd4c_cl_define(&options, "DEFORMABLE", "1");
  return ND4C_CL_RUN(call, ND4C_CL_BY_PAIRS(call, "sweep+conv"), "conv_deformable", options, nd4c_cl_sweep_outputs(&s),
                     ND4C_CL_VALUE(s), ND4C_CL_IN(x), ND4C_CL_IN(w), ND4C_CL_OUT(y), ND4C_CL_IN(bias),
                     ND4C_CL_LONG(nd4c_cl_stride_of(bias, 0)), ND4C_CL_INT(bias != NULL), ND4C_CL_IN(offset),
                     ND4C_CL_IN(mask), ND4C_CL_INT(mask != NULL), ND4C_CL_LONGS(mask_strides, 5),
                     ND4C_CL_LONG(ND4C_INT_OF(call, deformable_conv_offset_groups)), ND4C_CL_INT(x->rank - 2));
}

/* -- causal_conv_with_state --------------------------------------------------------------------------------------- */

static nd4c_status causal_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *w = &call->inputs[1], *y = &call->outputs[0], *state = &call->outputs[1];
  const nd4c_tensor *bias = nd4c_cl_input(call, ND4C_IN_causal_conv_with_state_bias);
  const nd4c_tensor *past = nd4c_cl_input(call, ND4C_IN_causal_conv_with_state_past_state);
  nd4c_cl_options options = {{0}};
  ND4C_CL_TYPES(&options, "ABCDYZ", x->dtype, w->dtype, nd4c_cl_dtype_of(bias, x->dtype),
                nd4c_cl_dtype_of(past, x->dtype), y->dtype, state->dtype);
  nd4c_cl_define_pair(&options, call);
  nd4c_cl_define(&options, "CAUSAL", "1");
  int64_t cells = x->shape[0] * x->shape[1] * (x->shape[2] + w->shape[2] - 1);
  return ND4C_CL_RUN(call, ND4C_CL_BY_PAIRS(call, "sweep+conv"), "conv_causal", options, cells,
                     ND4C_CL_LONGS(x->shape, 3), ND4C_CL_LONG(w->shape[2]), ND4C_CL_STRIDED(x, READ), ND4C_CL_IN(w),
                     ND4C_CL_LONG(w->strides[0], w->strides[2]), ND4C_CL_IN(bias),
                     ND4C_CL_LONG(nd4c_cl_stride_of(bias, 0)), ND4C_CL_INT(bias != NULL),
                     ND4C_CL_STRIDED(past != NULL ? past : x, READ),
                     ND4C_CL_INT(past != NULL, ND4C_FLAG_OF(call, causal_conv_with_state_silu)),
                     ND4C_CL_STRIDED(y, WRITE), ND4C_CL_STRIDED(state, WRITE));
}

ND4C_CL_STEP_KERNEL(conv, ND4C_CL_FLOATS, convolve(step), NULL)
ND4C_CL_KERNEL(separable_conv2d, ND4C_CL_FLOATS, nd4c_cl_call_usable, separable_run, separable_scratch)
ND4C_CL_KERNEL(conv_transpose, ND4C_CL_FLOATS, nd4c_cl_call_usable, transposed_run, NULL)
ND4C_CL_KERNEL(causal_conv_with_state, ND4C_CL_FLOATS, nd4c_cl_call_usable, causal_run, NULL)
ND4C_CL_KERNEL(deformable_conv, ND4C_CL_FLOATS, nd4c_cl_call_usable, deformable_run, NULL)

const nd4c_kernel *const nd4c_cl_window_conv_kernels[] = {&opencl_conv,
                                                          &opencl_separable_conv2d,
                                                          &opencl_conv_transpose,
                                                          &opencl_deformable_conv,
                                                          &opencl_causal_conv_with_state,
                                                          NULL};
