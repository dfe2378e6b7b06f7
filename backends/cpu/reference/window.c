/* Engine reference: the family window. */
#include "backends/cpu/reference/work.h"
#include "backends/cpu/support/window.h"
#include "kernels/reference/window/window.h"

static int64_t list_at(const nd4c_attr_value *list, int32_t index, int64_t otherwise) {
  return index < list->count ? list->as.ints[index] : otherwise;
}

/* Extents of x and y, with leading axes of extent 1 up to three. */
static nd4c_ref_sweep sweep_of(const nd4c_call *call) {
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

/* The same with a resolved window. */
static nd4c_ref_sweep window_sweep(const nd4c_call *call, nd4c_cpu_window_attrs at, const int64_t *kernel) {
  nd4c_ref_sweep s = sweep_of(call);
  nd4c_ref_window window;
  nd4c_cpu_window(call, at, kernel, &window);
  for (int32_t i = 0; i < window.spatial; i++) {
    int32_t axis = 3 - window.spatial + i;
    s.kernel[axis] = window.kernel[i];
    s.stride[axis] = window.stride[i];
    s.dilation[axis] = window.dilation[i];
    s.pad[axis] = window.pad_begin[i];
    s.pad_end[axis] = window.pad_end[i];
  }
  return s;
}

/* -- convolutions ------------------------------------------------------------------------------------------------- */

static nd4c_ref_sweep transposed_sweep(const nd4c_call *call) {
  nd4c_ref_sweep s = sweep_of(call);
  nd4c_ref_window window;
  nd4c_cpu_conv_transpose_window(call, &window);
  s.groups = call->attrs[ND4C_ATTR_conv_transpose_groups].as.i;
  for (int32_t own = 0; own < window.spatial; own++) {
    int32_t axis = 3 - window.spatial + own;
    s.kernel[axis] = window.kernel[own];
    s.stride[axis] = window.stride[own];
    s.dilation[axis] = window.dilation[own];
    s.pad[axis] = window.pad_begin[own];
  }
  return s;
}

ND4C_CPU_RANGE(conv_transpose_range, nd4c_ref_conv_transpose)

static void deformable_conv_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  nd4c_ref_deformable_conv(user, begin, end, worker);
}

static nd4c_status conv_transpose_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *w = &call->inputs[1], *y = &call->outputs[0];
  nd4c_ref_conv_numbers args = {.sweep = transposed_sweep(call),
                                .x = nd4c_cpu_work_load(&work, call, ND4C_IN_conv_transpose_x),
                                .w = nd4c_cpu_work_load(&work, call, ND4C_IN_conv_transpose_w),
                                .bias = nd4c_cpu_work_load(&work, call, ND4C_IN_conv_transpose_bias),
                                .y = nd4c_cpu_work_make(&work, y->size)};
  if (!work.failed) {
    int64_t planes = y->shape[0] * y->shape[1], each = w->shape[1] > 0 ? w->size / w->shape[1] : 0;
    int64_t cells = nd4c_ref_extent(y->rank - 2, y->shape + 2);
    int64_t grain = nd4c_cpu_grain(cells < INT32_MAX && each < INT32_MAX ? cells * each : INT64_MAX / 2);
    nd4c_cpu_host->parallel_for(planes, grain, call->width, conv_transpose_range, &args);
    nd4c_cpu_work_store(call, 0, args.y);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

/* deformable_conv has no auto_pad: its pads are as given. */
static nd4c_ref_sweep deformable_sweep(const nd4c_call *call) {
  const nd4c_attr_value *attrs = call->attrs;
  const nd4c_tensor *w = &call->inputs[1];
  nd4c_ref_sweep s = sweep_of(call);
  s.groups = attrs[ND4C_ATTR_deformable_conv_groups].as.i;
  for (int32_t own = 0; own < w->rank - 2; own++) {
    int32_t axis = 5 - w->rank + own;
    s.kernel[axis] = w->shape[own + 2];
    s.stride[axis] = list_at(&attrs[ND4C_ATTR_deformable_conv_strides], own, 1);
    s.dilation[axis] = list_at(&attrs[ND4C_ATTR_deformable_conv_dilations], own, 1);
    s.pad[axis] = list_at(&attrs[ND4C_ATTR_deformable_conv_pads], own, 0);
  }
  return s;
}

static nd4c_status deformable_conv_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *w = &call->inputs[1], *y = &call->outputs[0];
  nd4c_ref_conv_numbers args = {.sweep = deformable_sweep(call),
                                .x = nd4c_cpu_work_load(&work, call, ND4C_IN_deformable_conv_x),
                                .w = nd4c_cpu_work_load(&work, call, ND4C_IN_deformable_conv_w),
                                .offset = nd4c_cpu_work_load(&work, call, ND4C_IN_deformable_conv_offset),
                                .bias = nd4c_cpu_work_load(&work, call, ND4C_IN_deformable_conv_bias),
                                .mask = nd4c_cpu_work_load(&work, call, ND4C_IN_deformable_conv_mask),
                                .offset_groups = call->attrs[ND4C_ATTR_deformable_conv_offset_groups].as.i,
                                .spatial = w->rank - 2,
                                .y = nd4c_cpu_work_make(&work, y->size)};
  const int64_t *kernel = args.sweep.kernel;
  int64_t column = args.sweep.channels * kernel[0] * kernel[1] * kernel[2];
  args.scratch = nd4c_cpu_work_make(&work, column * (call->width > 0 ? call->width : 1));
  if (!work.failed) {
    int64_t cells = y->shape[0] * nd4c_ref_extent(y->rank - 2, y->shape + 2);
    nd4c_cpu_host->parallel_for(cells, nd4c_cpu_grain(w->size), call->width, deformable_conv_range, &args);
    nd4c_cpu_work_store(call, 0, args.y);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

ND4C_CPU_RANGE(causal_conv_range, nd4c_ref_causal_conv)

static nd4c_status causal_conv_with_state_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_causal_conv_args args = {.channels = x->shape[1],
                                    .length = x->shape[2],
                                    .taps = call->inputs[1].shape[2],
                                    .x = nd4c_cpu_work_load(&work, call, ND4C_IN_causal_conv_with_state_x),
                                    .w = nd4c_cpu_work_load(&work, call, ND4C_IN_causal_conv_with_state_w),
                                    .bias = nd4c_cpu_work_load(&work, call, ND4C_IN_causal_conv_with_state_bias),
                                    .past = nd4c_cpu_work_load(&work, call, ND4C_IN_causal_conv_with_state_past_state),
                                    .silu = call->attrs[ND4C_ATTR_causal_conv_with_state_silu].as.i != 0,
                                    .y = nd4c_cpu_work_make(&work, x->size),
                                    .present = nd4c_cpu_work_make(&work, call->outputs[1].size)};
  if (!work.failed) {
    int64_t grain = nd4c_cpu_grain(args.length * args.taps);
    nd4c_cpu_host->parallel_for(x->shape[0] * x->shape[1], grain, call->width, causal_conv_range, &args);
    nd4c_cpu_work_store(call, 0, args.y);
    nd4c_cpu_work_store(call, 1, args.present);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

/* -- pools -------------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(pool_range, nd4c_ref_pool)

/* For operands and results as numbers, and for indices. */
static int64_t pool_scratch_bytes(const nd4c_call *call) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < call->input_count; i++)
    bytes += nd4c_cpu_work_bytes(call->inputs[i].size);
  for (int32_t i = 0; i < call->output_count; i++)
    bytes += nd4c_cpu_work_bytes(call->outputs[i].size);
  return bytes;
}

static nd4c_status pool_numbers_run(const nd4c_call *call, nd4c_ref_pool_numbers args) {
  nd4c_cpu_work work = nd4c_cpu_work_in(call, pool_scratch_bytes(call));
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  args.x = nd4c_cpu_work_load(&work, call, 0);
  args.w = nd4c_cpu_work_load(&work, call, 1);
  args.y = nd4c_cpu_work_make(&work, y->size);
  args.indices = call->output_count > 1 ? nd4c_cpu_work_make_integers(&work, y->size) : NULL;
  if (!work.failed) {
    int64_t cells = args.adaptive && y->size > 0 ? x->size / y->size
                                                 : args.sweep.kernel[0] * args.sweep.kernel[1] * args.sweep.kernel[2];
    nd4c_cpu_host->parallel_for(y->size, nd4c_cpu_grain(cells), call->width, pool_range, &args);
    nd4c_cpu_work_store(call, 0, args.y);
    if (args.indices != NULL)
      nd4c_cpu_work_store_integers(call, 1, args.indices);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

static nd4c_status lp_pool_run(const nd4c_call *call) {
  const nd4c_cpu_window_attrs at = {ND4C_ATTR_lp_pool_strides, ND4C_ATTR_lp_pool_pads, ND4C_ATTR_lp_pool_dilations,
                                    ND4C_ATTR_lp_pool_auto_pad};
  return pool_numbers_run(
      call, (nd4c_ref_pool_numbers){.sweep = window_sweep(call, at, call->attrs[ND4C_ATTR_lp_pool_kernel].as.ints),
                                    .kind = ND4C_REF_POOL_LP,
                                    .p = call->attrs[ND4C_ATTR_lp_pool_p].as.f});
}

static nd4c_status adaptive_run(const nd4c_call *call, nd4c_ref_pool_kind kind, double p) {
  return pool_numbers_run(call,
                          (nd4c_ref_pool_numbers){.sweep = sweep_of(call), .kind = kind, .adaptive = true, .p = p});
}

static nd4c_status average_run(const nd4c_call *call) {
  return adaptive_run(call, ND4C_REF_POOL_AVERAGE, 0);
}

static nd4c_status max_run(const nd4c_call *call) {
  return adaptive_run(call, ND4C_REF_POOL_MAX, 0);
}

static nd4c_status global_lp_pool_run(const nd4c_call *call) {
  return adaptive_run(call, ND4C_REF_POOL_LP, call->attrs[ND4C_ATTR_global_lp_pool_p].as.f);
}

static nd4c_status morphology_run(const nd4c_call *call, nd4c_ref_pool_kind kind) {
  const nd4c_cpu_window_attrs at = {ND4C_ATTR_morphological_dilation_strides, ND4C_ATTR_morphological_dilation_pads,
                                    ND4C_ATTR_morphological_dilation_dilations,
                                    ND4C_ATTR_morphological_dilation_auto_pad};
  return pool_numbers_run(
      call, (nd4c_ref_pool_numbers){.sweep = window_sweep(call, at, call->inputs[1].shape + 1), .kind = kind});
}

static nd4c_status dilation_run(const nd4c_call *call) {
  return morphology_run(call, ND4C_REF_POOL_DILATION);
}

static nd4c_status erosion_run(const nd4c_call *call) {
  return morphology_run(call, ND4C_REF_POOL_EROSION);
}

/* average_pool and max_pool have their attributes in the same places. */
static nd4c_ref_pool_numbers window_pool(const nd4c_call *call, nd4c_ref_pool_kind kind) {
  const nd4c_cpu_window_attrs at = {ND4C_ATTR_max_pool_strides, ND4C_ATTR_max_pool_pads, ND4C_ATTR_max_pool_dilations,
                                    ND4C_ATTR_max_pool_auto_pad};
  return (nd4c_ref_pool_numbers){.sweep = window_sweep(call, at, call->attrs[ND4C_ATTR_max_pool_kernel].as.ints),
                                 .kind = kind};
}

static nd4c_status average_pool_run(const nd4c_call *call) {
  nd4c_ref_pool_numbers args = window_pool(call, ND4C_REF_POOL_AVERAGE);
  args.counts_padding = call->attrs[ND4C_ATTR_average_pool_count_include_pad].as.i != 0;
  return pool_numbers_run(call, args);
}

ND4C_CPU_RANGE(max_pool_range, nd4c_ref_max_pool_integers)

/* The index of a cell of a plane, as the attributes count; -1 stays. */
static int64_t count_index(const nd4c_call *call, const nd4c_ref_sweep *s, int64_t row, int64_t index) {
  bool column_major = call->attrs[ND4C_ATTR_max_pool_with_indices_column_major].as.i != 0;
  bool planar = call->attrs[ND4C_ATTR_max_pool_with_indices_planar].as.i != 0;
  int64_t base = planar ? 0 : row * s->x[0] * s->x[1] * s->x[2];
  if (index < 0 || !column_major)
    return index < 0 ? index : base + index;
  int64_t i = index / (s->x[1] * s->x[2]), j = index / s->x[2] % s->x[1], k = index % s->x[2];
  return base + (k * s->x[1] + j) * s->x[0] + i;
}

/* Floating numbers as doubles. */
static nd4c_status max_pool_numbers(const nd4c_call *call) {
  nd4c_cpu_work work = nd4c_cpu_work_in(call, pool_scratch_bytes(call));
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_ref_pool_numbers args = window_pool(call, ND4C_REF_POOL_MAX);
  args.x = nd4c_cpu_work_load(&work, call, 0);
  args.y = nd4c_cpu_work_make(&work, y->size);
  args.indices = nd4c_cpu_work_make_integers(&work, y->size);
  if (!work.failed) {
    int64_t cells = args.sweep.y[0] * args.sweep.y[1] * args.sweep.y[2];
    nd4c_cpu_host->parallel_for(y->size, nd4c_cpu_grain(8), call->width, pool_range, &args);
    for (int64_t i = 0; i < y->size; i++)
      args.indices[i] = count_index(call, &args.sweep, i / cells, args.indices[i]);
    nd4c_cpu_work_store(call, 0, args.y);
    nd4c_cpu_work_store_integers(call, 1, args.indices);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

/* max_pool and max_pool_with_indices. Integers as they are: 64 bits do not fit into a double. */
static nd4c_status max_pool_run(const nd4c_call *call) {
  bool indexed = call->op->op == ND4C_OP_max_pool_with_indices;
  if (nd4c_reference_kind(call->inputs[0].dtype) == ND4C_KIND_FLOAT)
    return indexed ? max_pool_numbers(call) : pool_numbers_run(call, window_pool(call, ND4C_REF_POOL_MAX));
  nd4c_cpu_work work = nd4c_cpu_work_in(call, pool_scratch_bytes(call));
  const nd4c_tensor *y = &call->outputs[0];
  const nd4c_attr_value *attrs = call->attrs;
  nd4c_ref_pool_indices_args args = {.x = nd4c_cpu_ref_tensor(&call->inputs[0]), .y = nd4c_cpu_ref_tensor(y)};
  if (indexed) {
    args.planar = attrs[ND4C_ATTR_max_pool_with_indices_planar].as.i != 0;
    args.column_major = attrs[ND4C_ATTR_max_pool_with_indices_column_major].as.i != 0;
    args.indices = nd4c_cpu_work_make_integers(&work, y->size);
  }
  nd4c_cpu_pool_window(call, &args.window);
  if (!work.failed) {
    int64_t grain = nd4c_cpu_grain(8);
    nd4c_cpu_host->parallel_for(y->size, grain, call->width, max_pool_range, &args);
    if (indexed)
      nd4c_cpu_work_store_integers(call, 1, args.indices);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

/* -- max_unpool --------------------------------------------------------------------------------------------------- */

/* Extents that undo the pool, in which the indices of a call that is not planar count. */
static int64_t unpooled_extent(const nd4c_call *call, int32_t i) {
  const nd4c_attr_value *attrs = call->attrs, *pads = &attrs[ND4C_ATTR_max_unpool_pads];
  const nd4c_tensor *x = &call->inputs[0];
  if (attrs[ND4C_ATTR_max_unpool_planar].as.i != 0)
    return call->outputs[0].shape[i + 2];
  return x->shape[i + 2] == 0 ? 0
                              : (x->shape[i + 2] - 1) * list_at(&attrs[ND4C_ATTR_max_unpool_strides], i, 1) +
                                    list_at(&attrs[ND4C_ATTR_max_unpool_kernel], i, 1) - list_at(pads, i, 0) -
                                    list_at(pads, x->rank - 2 + i, 0);
}

/* Offset in y of an index. */
static int64_t unpooled_offset(const nd4c_call *call, const int64_t *extents, int64_t plane, int64_t row,
                               int64_t index) {
  const nd4c_tensor *y = &call->outputs[0];
  bool planar = call->attrs[ND4C_ATTR_max_unpool_planar].as.i != 0;
  int64_t rest = planar ? index : index % plane;
  row = planar ? row : index / plane;
  int64_t offset = row / y->shape[1] * y->strides[0] + row % y->shape[1] * y->strides[1];
  for (int32_t i = y->rank - 3; i >= 0; i--) {
    offset += rest % extents[i] * y->strides[i + 2];
    rest /= extents[i];
  }
  return offset;
}

static nd4c_status max_unpool_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_tensor from = nd4c_cpu_ref_tensor(x), to = nd4c_cpu_ref_tensor(&call->outputs[0]);
  const int64_t *indices = nd4c_cpu_work_load_integers(&work, call, 1);
  int64_t extents[3], rows = x->shape[0] * x->shape[1], cells = rows > 0 ? x->size / rows : 0, plane = 1;
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < x->rank - 2; i++) {
    extents[i] = unpooled_extent(call, i);
    plane *= extents[i];
  }
  int64_t count = call->attrs[ND4C_ATTR_max_unpool_planar].as.i != 0 ? plane : rows * plane;
  for (int64_t i = 0; !work.failed && status == ND4C_OK && i < x->size; i++)
    if (indices[i] < 0 || indices[i] >= count)
      status = nd4c_cpu_index_fail(call, "an index", indices[i], 0, count - 1);
  if (!work.failed && status == ND4C_OK) {
    for (int64_t i = 0; i < call->outputs[0].size; i++)
      nd4c_value_store(to.dtype, to.data, nd4c_ref_offset(&to, to.rank, to.shape, i), (nd4c_value){.u = 0});
    for (int64_t i = 0; i < x->size; i++)
      nd4c_value_store(to.dtype, to.data, unpooled_offset(call, extents, plane, i / cells, indices[i]),
                       nd4c_value_load(from.dtype, from.data, nd4c_ref_offset(&from, from.rank, from.shape, i)));
  }
  return nd4c_cpu_work_end(&work, call, status);
}

#define OPS(X)                                              \
  X(conv_transpose, FLOATS, conv_transpose)                 \
  X(deformable_conv, FLOATS, deformable_conv)               \
  X(causal_conv_with_state, FLOATS, causal_conv_with_state) \
  X(max_unpool, REALS, max_unpool)
#define POOLS(X)                              \
  X(max_pool, REALS, max_pool)                \
  X(max_pool_with_indices, REALS, max_pool)   \
  X(average_pool, FLOATS, average_pool)       \
  X(lp_pool, FLOATS, lp_pool)                 \
  X(global_average_pool, FLOATS, average)     \
  X(global_max_pool, FLOATS, max)             \
  X(global_lp_pool, FLOATS, global_lp_pool)   \
  X(adaptive_average_pool, FLOATS, average)   \
  X(adaptive_max_pool, FLOATS, max)           \
  X(morphological_dilation, FLOATS, dilation) \
  X(morphological_erosion, FLOATS, erosion)
#define DEFINE_KERNEL(op, dtypes, run) ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_##dtypes, run##_run),
#define DEFINE_POOL(op, dtypes, run) \
  ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_##dtypes, run##_run, .scratch_bytes = pool_scratch_bytes),

const nd4c_kernel *const nd4c_cpu_reference_window_kernels[] = {OPS(DEFINE_KERNEL) POOLS(DEFINE_POOL) NULL};
