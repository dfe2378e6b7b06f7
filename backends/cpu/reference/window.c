/* Engine reference: the family window: convolutions, pools and morphology. dispatch/choice.c asks these kernels last,
 * after those of all other engines. */
#include "backends/cpu/support/window.h"
#include "backends/cpu/reference/work.h"

static nd4c_ref_sweep window_sweep(const nd4c_call *call, nd4c_cpu_window_attrs at, const int64_t *kernel) {
  nd4c_ref_window window;
  nd4c_cpu_window(call, at, kernel, &window);
  return nd4c_cpu_sweep_with(call, &window);
}

/* -- convolutions ------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(conv_range, nd4c_ref_conv)

static nd4c_status conv_run(const nd4c_call *call) {
  const nd4c_tensor *w = &call->inputs[ND4C_IN_conv_w];
  nd4c_ref_conv_args args = {.x = nd4c_cpu_ref_input(call, ND4C_IN_conv_x),
                             .w = nd4c_cpu_ref_input(call, ND4C_IN_conv_w),
                             .bias = nd4c_cpu_ref_input(call, ND4C_IN_conv_bias),
                             .addend = nd4c_cpu_ref_input(call, ND4C_IN_conv_addend),
                             .y = nd4c_cpu_ref_output(call, 0),
                             .groups = ND4C_INT_OF(call, conv_groups),
                             .activation = ND4C_INT_OF(call, conv_activation)};
  nd4c_cpu_conv_window(call, &args.window);
  int64_t each = w->shape[0] > 0 ? w->size / w->shape[0] : 0;
  return nd4c_cpu_reference_parallel(call, call->outputs[0].size, each, conv_range, &args);
}

/* The same convolution for every channel, into doubles, then one of 1 x 1 cells. */
static nd4c_status separable_conv2d(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0], *depthwise = &call->inputs[ND4C_IN_separable_conv2d_depthwise];
  const nd4c_tensor *y = &call->outputs[0];
  const nd4c_cpu_window_attrs at = ND4C_CPU_WINDOW_ATTRS(separable_conv2d);
  int64_t cells = y->shape[2] * y->shape[3], middles = depthwise->shape[0];
  const int64_t shape[4] = {x->shape[0], middles, y->shape[2], y->shape[3]};
  const int64_t strides[4] = {middles * cells, cells, y->shape[3], 1};
  double *between = nd4c_cpu_work_make(work, x->shape[0] * middles * cells);
  nd4c_ref_tensor middle = {ND4C_FLOAT64, 4, shape, strides, (char *)between};
  nd4c_ref_conv_args first = {
      .x = nd4c_cpu_ref_tensor(x), .w = nd4c_cpu_ref_tensor(depthwise), .y = middle, .groups = x->shape[1]};
  nd4c_ref_conv_args second = {.x = middle,
                               .w = nd4c_cpu_ref_input(call, ND4C_IN_separable_conv2d_pointwise),
                               .bias = nd4c_cpu_ref_input(call, ND4C_IN_separable_conv2d_bias),
                               .y = nd4c_cpu_ref_tensor(y),
                               .window = {2, {shape[2], shape[3]}, {1, 1}, {1, 1}, {1, 1}, {0}, {0}},
                               .groups = 1};
  nd4c_cpu_window(call, at, depthwise->shape + 2, &first.window);
  int64_t taps = depthwise->shape[2] * depthwise->shape[3];
  ND4C_BACKEND_TRY(nd4c_cpu_work_parallel(work, x->shape[0] * middles * cells, taps, conv_range, &first));
  return nd4c_cpu_work_parallel(work, y->size, middles, conv_range, &second);
}

ND4C_CPU_RANGE(conv_transpose_range, nd4c_ref_conv_transpose)

static nd4c_status conv_transpose(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *w = &call->inputs[1], *y = &call->outputs[0];
  nd4c_ref_window window;
  nd4c_cpu_conv_transpose_window(call, &window);
  nd4c_ref_conv_numbers args = {.sweep = nd4c_cpu_sweep_with(call, &window),
                                .x = nd4c_cpu_work_load(work, ND4C_IN_conv_transpose_x),
                                .w = nd4c_cpu_work_load(work, ND4C_IN_conv_transpose_w),
                                .bias = nd4c_cpu_work_load(work, ND4C_IN_conv_transpose_bias),
                                .y = nd4c_cpu_work_output(work, 0)};
  int64_t planes = y->shape[0] * y->shape[1], each = w->shape[1] > 0 ? w->size / w->shape[1] : 0;
  int64_t cells = nd4c_ref_extent(y->rank - 2, y->shape + 2);
  int64_t plane_work = cells < INT32_MAX && each < INT32_MAX ? cells * each : INT64_MAX / 2;
  args.sweep.groups = ND4C_INT_OF(call, conv_transpose_groups);
  return nd4c_cpu_work_parallel(work, planes, plane_work, conv_transpose_range, &args);
}

static void deformable_conv_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  nd4c_ref_deformable_conv(user, begin, end, worker);
}

static nd4c_status deformable_conv(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *w = &call->inputs[1], *y = &call->outputs[0];
  nd4c_ref_conv_numbers args = {
      .sweep = window_sweep(call, (nd4c_cpu_window_attrs)ND4C_CPU_WINDOW_ATTRS_PADDED(deformable_conv), w->shape + 2),
      .x = nd4c_cpu_work_load(work, ND4C_IN_deformable_conv_x),
      .w = nd4c_cpu_work_load(work, ND4C_IN_deformable_conv_w),
      .offset = nd4c_cpu_work_load(work, ND4C_IN_deformable_conv_offset),
      .bias = nd4c_cpu_work_load(work, ND4C_IN_deformable_conv_bias),
      .mask = nd4c_cpu_work_load(work, ND4C_IN_deformable_conv_mask),
      .offset_groups = ND4C_INT_OF(call, deformable_conv_offset_groups),
      .spatial = w->rank - 2,
      .y = nd4c_cpu_work_output(work, 0)};
  const int64_t *kernel = args.sweep.kernel;
  int64_t column = args.sweep.channels * kernel[0] * kernel[1] * kernel[2];
  int64_t cells = y->shape[0] * nd4c_ref_extent(y->rank - 2, y->shape + 2);
  args.sweep.groups = ND4C_INT_OF(call, deformable_conv_groups);
  args.scratch = nd4c_cpu_work_make(work, column * (call->width > 0 ? call->width : 1));
  return nd4c_cpu_work_parallel(work, cells, w->size, deformable_conv_range, &args);
}

ND4C_CPU_RANGE(causal_conv_range, nd4c_ref_causal_conv)

static nd4c_status causal_conv_with_state(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_causal_conv_args args = {.channels = x->shape[1],
                                    .length = x->shape[2],
                                    .taps = call->inputs[1].shape[2],
                                    .x = nd4c_cpu_work_load(work, ND4C_IN_causal_conv_with_state_x),
                                    .w = nd4c_cpu_work_load(work, ND4C_IN_causal_conv_with_state_w),
                                    .bias = nd4c_cpu_work_load(work, ND4C_IN_causal_conv_with_state_bias),
                                    .past = nd4c_cpu_work_load(work, ND4C_IN_causal_conv_with_state_past_state),
                                    .silu = ND4C_FLAG_OF(call, causal_conv_with_state_silu),
                                    .y = nd4c_cpu_work_output(work, 0),
                                    .present = nd4c_cpu_work_output(work, 1)};
  return nd4c_cpu_work_parallel(work, x->shape[0] * x->shape[1], args.length * args.taps, causal_conv_range, &args);
}

/* -- pools -------------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(pool_range, nd4c_ref_pool)

static nd4c_status run_pool(const nd4c_call *call, nd4c_cpu_work *work, nd4c_ref_pool_numbers *args) {
  int64_t from = call->inputs[0].size, to = call->outputs[0].size, kernel = nd4c_ref_extent(3, args->sweep.kernel);
  args->indices = nd4c_cpu_work_output_integers(work, 1);
  if (args->whole == NULL) {
    args->x = nd4c_cpu_work_load(work, 0);
    args->w = nd4c_cpu_work_load(work, 1);
    args->y = nd4c_cpu_work_output(work, 0);
  }
  return nd4c_cpu_work_parallel(work, to, args->adaptive && to > 0 ? from / to : kernel, pool_range, args);
}

static nd4c_status adaptive(const nd4c_call *call, nd4c_cpu_work *work, nd4c_ref_pool_kind kind, double p) {
  return run_pool(call, work,
                  &(nd4c_ref_pool_numbers){.sweep = nd4c_cpu_sweep(call), .kind = kind, .adaptive = true, .p = p});
}

static nd4c_status morphology(const nd4c_call *call, nd4c_cpu_work *work, nd4c_ref_pool_kind kind) {
  const nd4c_cpu_window_attrs at = ND4C_CPU_WINDOW_ATTRS(morphological_dilation);
  nd4c_ref_pool_numbers args = {.sweep = window_sweep(call, at, call->inputs[1].shape + 1), .kind = kind};
  return run_pool(call, work, &args);
}

static nd4c_status lp_pool(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_cpu_window_attrs at = ND4C_CPU_WINDOW_ATTRS(lp_pool);
  const int64_t *kernel = call->attrs[ND4C_ATTR_lp_pool_kernel].as.ints;
  nd4c_ref_pool_numbers args = {
      .sweep = window_sweep(call, at, kernel), .kind = ND4C_REF_POOL_LP, .p = ND4C_REAL_OF(call, lp_pool_p)};
  return run_pool(call, work, &args);
}

/* average_pool and max_pool have their attributes in the same places. */
static nd4c_ref_pool_numbers window_pool(const nd4c_call *call, nd4c_ref_pool_kind kind) {
  nd4c_ref_window window;
  nd4c_cpu_pool_window(call, &window);
  return (nd4c_ref_pool_numbers){.sweep = nd4c_cpu_sweep_with(call, &window), .kind = kind};
}

static nd4c_status average_pool(const nd4c_call *call, nd4c_cpu_work *work) {
  nd4c_ref_pool_numbers args = window_pool(call, ND4C_REF_POOL_AVERAGE);
  args.counts_padding = ND4C_FLAG_OF(call, average_pool_count_include_pad);
  return run_pool(call, work, &args);
}

/* Integers stay integers. Those of uint64 change their highest bit on the way, so that they compare as int64 do. */
static void load_whole(nd4c_cpu_work *work, nd4c_ref_pool_numbers *args) {
  const nd4c_tensor *x = &work->call->inputs[0];
  int64_t *whole = nd4c_cpu_work_load_integers(work, 0);
  bool is_signed = nd4c_reference_kind(x->dtype) == ND4C_KIND_INT;
  for (int64_t i = 0; x->dtype == ND4C_UINT64 && !work->failed && i < x->size; i++) {
    whole[i] ^= INT64_MIN;
  }
  args->whole = whole;
  args->lowest = is_signed                 ? INT64_MIN >> (64 - 8 * nd4c_cpu_dtype_bytes(x->dtype))
                 : x->dtype == ND4C_UINT64 ? INT64_MIN
                                           : 0;
  args->y_whole = nd4c_cpu_work_output_integers(work, 0);
}

/* max_pool and max_pool_with_indices. */
static nd4c_status max_pool(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_ref_pool_numbers args = window_pool(call, ND4C_REF_POOL_MAX);
  int64_t cells = nd4c_ref_extent(3, args.sweep.y);
  if (nd4c_reference_kind(y->dtype) != ND4C_KIND_FLOAT) {
    load_whole(work, &args);
  }
  ND4C_BACKEND_TRY(run_pool(call, work, &args));
  for (int64_t i = 0; args.indices != NULL && i < y->size; i++) {
    args.indices[i] = nd4c_cpu_pool_index(call, &args.sweep, i / cells, args.indices[i]);
  }
  for (int64_t i = 0; y->dtype == ND4C_UINT64 && i < y->size; i++) {
    args.y_whole[i] ^= INT64_MIN;
  }
  return ND4C_OK;
}

/* -- max_unpool --------------------------------------------------------------------------------------------------- */

/* Offset in y of an index. */
static int64_t unpooled_offset(const nd4c_call *call, const int64_t *extents, int64_t plane, int64_t row,
                               int64_t index) {
  const nd4c_tensor *y = &call->outputs[0];
  bool planar = ND4C_FLAG_OF(call, max_unpool_planar);
  int64_t rest = planar ? index : index % plane;
  row = planar ? row : index / plane;
  int64_t offset = row / y->shape[1] * y->strides[0] + row % y->shape[1] * y->strides[1];
  for (int32_t i = y->rank - 3; i >= 0; i--) {
    offset += rest % extents[i] * y->strides[i + 2];
    rest /= extents[i];
  }
  return offset;
}

static nd4c_status max_unpool(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_tensor from = nd4c_cpu_ref_tensor(x), to = nd4c_cpu_ref_output(call, 0);
  const int64_t *indices = nd4c_cpu_work_load_integers(work, 1);
  int64_t extents[3], rows = x->shape[0] * x->shape[1], cells = rows > 0 ? x->size / rows : 0, plane = 1;
  for (int32_t i = 0; i < x->rank - 2; i++) {
    extents[i] = nd4c_cpu_unpooled_extent(call, i);
    plane *= extents[i];
  }
  int64_t count = ND4C_FLAG_OF(call, max_unpool_planar) ? plane : rows * plane;
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  ND4C_BACKEND_TRY(nd4c_cpu_check_integers(call, "an index", indices, x->size, 0, count - 1));
  for (int64_t i = 0; i < call->outputs[0].size; i++) {
    nd4c_value_store(to.dtype, to.data, nd4c_ref_offset(&to, to.rank, to.shape, i), (nd4c_value){.u = 0});
  }
  for (int64_t i = 0; i < x->size; i++) {
    nd4c_value_store(to.dtype, to.data, unpooled_offset(call, extents, plane, i / cells, indices[i]),
                     nd4c_value_load(from.dtype, from.data, nd4c_ref_offset(&from, from.rank, from.shape, i)));
  }
  return ND4C_OK;
}

/* The kernels count activations as the op table does. */
_Static_assert(ND4C_ACTIVATION_NONE == 0 && ND4C_ACTIVATION_RELU == 1 && ND4C_ACTIVATION_GELU == 2 &&
                   ND4C_ACTIVATION_GELU_TANH == 3 && ND4C_ACTIVATION_SIGMOID == 4 && ND4C_ACTIVATION_TANH == 5 &&
                   ND4C_ACTIVATION_SWISH == 6 && ND4C_ACTIVATION_HARD_SWISH == 7 && ND4C_ACTIVATION_RELU6 == 8,
               "kernels/reference/contraction/activation.c");

#define F ND4C_CPU_FLOATS
#define R ND4C_CPU_REALS
#define OPS(X)                                                                                       \
  X(separable_conv2d, F, separable_conv2d(call, work))                                               \
  X(conv_transpose, F, conv_transpose(call, work))                                                   \
  X(deformable_conv, F, deformable_conv(call, work))                                                 \
  X(causal_conv_with_state, F, causal_conv_with_state(call, work))                                   \
  X(max_unpool, R, max_unpool(call, work))                                                           \
  X(max_pool, R, max_pool(call, work))                                                               \
  X(max_pool_with_indices, R, max_pool(call, work))                                                  \
  X(average_pool, F, average_pool(call, work))                                                       \
  X(lp_pool, F, lp_pool(call, work))                                                                 \
  X(global_average_pool, F, adaptive(call, work, ND4C_REF_POOL_AVERAGE, 0))                          \
  X(global_max_pool, F, adaptive(call, work, ND4C_REF_POOL_MAX, 0))                                  \
  X(global_lp_pool, F, adaptive(call, work, ND4C_REF_POOL_LP, ND4C_REAL_OF(call, global_lp_pool_p))) \
  X(adaptive_average_pool, F, adaptive(call, work, ND4C_REF_POOL_AVERAGE, 0))                        \
  X(adaptive_max_pool, F, adaptive(call, work, ND4C_REF_POOL_MAX, 0))                                \
  X(morphological_dilation, F, morphology(call, work, ND4C_REF_POOL_DILATION))                       \
  X(morphological_erosion, F, morphology(call, work, ND4C_REF_POOL_EROSION))
OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_window_kernels[] = {
    OPS(ND4C_CPU_WORK_ROW) ND4C_CPU_REFERENCE_KERNEL(conv, F, conv_run), NULL};
