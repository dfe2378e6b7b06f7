/* Engine reference: ops that arrange elements anew: joining, padding, repeating, rolling, blocks, windows as columns.
 * dispatch/choice.c asks these kernels last, after those of all other engines. Some helpers serve engine simd, too
 * (support/moving.h). */
#include "backends/cpu/support/moving.h"
#include "backends/reading.h"
#include "kernels/reference/elementwise/elementwise.h"
#include "kernels/reference/indexing/arrangement.h"

const char nd4c_cpu_zero[16];

/* -- plans side by side -------------------------------------------------------------------------------------------- */

typedef struct plan_run {
  const nd4c_ref_plan *plan;
  const char *from;
  char *to;
} plan_run;

static void run_part(void *user, int64_t begin, int64_t end, int32_t worker) {
  const plan_run *run = user;
  (void)worker;
  nd4c_ref_plan_run_part(run->plan, begin, end, run->from, run->to);
}

void nd4c_cpu_run_plan(const nd4c_call *call, const nd4c_ref_plan *plan, const void *from, void *to) {
  enum { PART = 1 << 17 }; /* bytes that are worth a worker */
  plan_run run = {plan, from, to};
  if (plan->size > 0) {
    int64_t slice = plan->size / plan->shape[0] * plan->bytes;
    nd4c_cpu_parallel(plan->shape[0], slice >= PART ? 1 : PART / slice, call->width, run_part, &run);
  }
}

static void *at(const nd4c_tensor *tensor, int64_t offset) {
  return (char *)tensor->data + offset * nd4c_reference_bytes(tensor->dtype);
}

static void move(const nd4c_call *call, int32_t rank, const int64_t *shape, const void *from,
                 const int64_t *from_strides, void *to, const int64_t *to_strides) {
  nd4c_ref_plan plan;
  nd4c_ref_plan_make(&plan, NULL, call->outputs[0].dtype, rank, shape, from_strides, to_strides);
  nd4c_cpu_run_plan(call, &plan, from, to);
}

static void fill(const nd4c_call *call, const void *value) {
  static const int64_t same[ND4C_CPU_MAX_RANK];
  const nd4c_tensor *y = &call->outputs[0];
  move(call, y->rank, y->shape, value, same, y->data, y->strides);
}

/* -- stack, pad ---------------------------------------------------------------------------------------------------- */

static nd4c_status stack_run(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, stack_axis), y->rank);
  int64_t strides[ND4C_CPU_MAX_RANK];
  for (int32_t i = 0; i + 1 < y->rank; i++) {
    strides[i] = y->strides[i < axis ? i : i + 1];
  }
  for (int32_t i = 0; i < call->input_count; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    char *to = at(y, i * y->strides[axis]);
    if (x->dtype == y->dtype) {
      move(call, x->rank, x->shape, x->data, x->strides, to, strides);
    } else {
      nd4c_operand from = {x->dtype, x->data, x->strides}, into = {y->dtype, to, strides};
      nd4c_reference_map(nd4c_value_copy, 1, &from, &y->dtype, &into, x->rank, x->shape);
    }
  }
  return ND4C_OK;
}

static nd4c_status pad_run(const nd4c_call *call) {
  const nd4c_tensor *value = nd4c_cpu_input(call, ND4C_IN_pad_value), *input = &call->inputs[0];
  const nd4c_attr_value *pads = &call->attrs[ND4C_ATTR_pad_pads], *axes = &call->attrs[ND4C_ATTR_pad_axes];
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(input), y = nd4c_cpu_ref_output(call, 0);
  int64_t begin[ND4C_CPU_MAX_RANK] = {0}, mode = ND4C_INT_OF(call, pad_mode);
  bool around = false;
  for (int32_t i = 0; i < pads->count / 2; i++) {
    begin[axes->count == 0 ? i : nd4c_axis(axes->as.ints[i], x.rank)] = pads->as.ints[i];
    around = around || pads->as.ints[i] > 0 || pads->as.ints[i + pads->count / 2] > 0;
  }
  if (mode != ND4C_PAD_MODE_CONSTANT) {
    nd4c_ref_pad_continued(&x, &y, begin, (nd4c_ref_pad_mode)mode);
    return ND4C_OK;
  }
  if (around) {
    fill(call, value != NULL ? value->data : nd4c_cpu_zero);
  }
  nd4c_ref_pad_inside(&x, &y, begin);
  return ND4C_OK;
}

/* -- tile, repeat, roll -------------------------------------------------------------------------------------------- */

static nd4c_status tile_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t shape[2 * ND4C_CPU_MAX_RANK], from[2 * ND4C_CPU_MAX_RANK], to[2 * ND4C_CPU_MAX_RANK];
  if (y->size == 0) {
    return ND4C_OK;
  }
  nd4c_strided x_view = nd4c_strided_of(x), y_view = nd4c_strided_of(y);
  int32_t rank = nd4c_tile_views(&x_view, &y_view, shape, from, to);
  move(call, rank, shape, x->data, from, y->data, to);
  return ND4C_OK;
}

/* How often slice i is there. */
static int64_t repeats_of(const nd4c_call *call, int64_t i) {
  const nd4c_tensor *counts = nd4c_cpu_input(call, ND4C_IN_repeat_counts);
  const nd4c_attr_value *repeats = &call->attrs[ND4C_ATTR_repeat_repeats];
  if (counts != NULL) {
    return nd4c_ref_index(counts->dtype, counts->data, i * counts->strides[0]);
  }
  return repeats->as.ints[repeats->count == 1 ? 0 : i];
}

nd4c_status nd4c_cpu_check_counts(const nd4c_call *call) {
  const nd4c_tensor *counts = nd4c_cpu_input(call, ND4C_IN_repeat_counts);
  int64_t left = ND4C_INT_OF(call, repeat_total), total = left;
  for (int64_t i = 0; counts != NULL && i < counts->shape[0]; i++) {
    int64_t count = repeats_of(call, i);
    ND4C_CPU_FAIL_IF(count < 0 || count > left, ND4C_ARGUMENT,
                     "repeat: counts[%lld] is %lld, expected 0 to %lld, what is left of total", (long long)i,
                     (long long)count, (long long)left);
    left -= count;
  }
  return counts == NULL || left == 0
             ? ND4C_OK
             : nd4c_cpu_host->fail(ND4C_ARGUMENT, "repeat: the sum of counts is %lld, expected total, %lld",
                                   (long long)(total - left), (long long)total);
}

/* All elements in C order, into y of one axis. */
static void repeat_flat(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  static const int64_t same;
  int64_t number = 0, done = 0;
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, x->rank, x->shape, 1, &x->strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++, number++) {
      int64_t count = repeats_of(call, number);
      nd4c_ref_plan plan;
      nd4c_ref_plan_make(&plan, NULL, x->dtype, 1, &count, &same, y->strides);
      nd4c_ref_plan_run(&plan, at(x, walk.at[0] + i * walk.step[0]), at(y, done * y->strides[0]));
      done += count;
    }
  }
}

static nd4c_status repeat_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const nd4c_attr_value *axes = &call->attrs[ND4C_ATTR_repeat_axes];
  int64_t shape[ND4C_CPU_MAX_RANK + 1], from[ND4C_CPU_MAX_RANK + 1], to[ND4C_CPU_MAX_RANK + 1], done = 0;
  ND4C_BACKEND_TRY(nd4c_cpu_check_counts(call));
  if (axes->count == 0) {
    repeat_flat(call);
    return ND4C_OK;
  }
  int32_t axis = nd4c_axis(axes->as.ints[0], x->rank);
  bool uniform =
      nd4c_cpu_input(call, ND4C_IN_repeat_counts) == NULL && call->attrs[ND4C_ATTR_repeat_repeats].count == 1;
  /* Copies slice by slice, each repeatedly; all slices at once if they have the same count. */
  int64_t slices = uniform ? 1 : x->shape[axis];
  for (int64_t slice = 0; slice < slices; slice++) {
    int64_t count = x->shape[axis] == 0 ? 0 : repeats_of(call, slice);
    for (int32_t i = 0; i < x->rank; i++) {
      shape[i + (i > axis)] = x->shape[i];
      from[i + (i > axis)] = x->strides[i];
      to[i + (i > axis)] = y->strides[i];
    }
    shape[axis] = uniform ? x->shape[axis] : 1;
    to[axis] = y->strides[axis] * count;
    shape[axis + 1] = count;
    from[axis + 1] = 0;
    to[axis + 1] = y->strides[axis];
    move(call, x->rank + 1, shape, at(x, slice * x->strides[axis]), from, at(y, done * y->strides[axis]), to);
    done += count;
  }
  return ND4C_OK;
}

/* Rolling is padding with wrap-around on one side and negative padding on the other. */
static nd4c_status roll_run(const nd4c_call *call) {
  static const int64_t one = 1;
  const nd4c_attr_value *shifts = &call->attrs[ND4C_ATTR_roll_shifts], *axes = &call->attrs[ND4C_ATTR_roll_axes];
  const nd4c_tensor *from = &call->inputs[0], *to = &call->outputs[0];
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(from), y = nd4c_cpu_ref_tensor(to);
  int64_t begin[ND4C_CPU_MAX_RANK] = {0};
  for (int32_t i = 0; i < axes->count; i++) {
    int32_t axis = nd4c_axis(axes->as.ints[i], x.rank);
    begin[axis] = nd4c_modulo(begin[axis] + nd4c_modulo(shifts->as.ints[i], x.shape[axis]), x.shape[axis]);
  }
  if (axes->count == 0) {
    int64_t shift = nd4c_modulo(shifts->as.ints[0], from->size);
    if ((from->flags & to->flags & ND4C_TENSOR_CONTIGUOUS) == 0) {
      nd4c_ref_roll_flat(&x, &y, from->size, shift);
      return ND4C_OK;
    }
    x.rank = y.rank = 1;
    x.shape = y.shape = &from->size;
    x.strides = y.strides = &one;
    begin[0] = shift;
  }
  nd4c_ref_pad_continued(&x, &y, begin, ND4C_REF_PAD_WRAP);
  return ND4C_OK;
}

/* -- blocks -------------------------------------------------------------------------------------------------------- */

void nd4c_cpu_blocks_make(const nd4c_call *call, bool to_deep, nd4c_cpu_blocks *blocks) {
  nd4c_strided deep = nd4c_strided_of(to_deep ? &call->outputs[0] : &call->inputs[0]);
  nd4c_strided wide = nd4c_strided_of(to_deep ? &call->inputs[0] : &call->outputs[0]);
  blocks->rank =
      nd4c_depth_views(&deep, &wide, ND4C_INT_OF(call, depth_to_space_block_size),
                       ND4C_FLAG_OF(call, depth_to_space_depth_first), ND4C_FLAG_OF(call, depth_to_space_channels_last),
                       blocks->shape, to_deep ? blocks->to : blocks->from, to_deep ? blocks->from : blocks->to);
}

static nd4c_status move_blocks(const nd4c_call *call, bool to_deep) {
  nd4c_cpu_blocks blocks;
  nd4c_cpu_blocks_make(call, to_deep, &blocks);
  move(call, blocks.rank, blocks.shape, call->inputs[0].data, blocks.from, call->outputs[0].data, blocks.to);
  return ND4C_OK;
}

static void move_cell(const nd4c_call *call, const nd4c_tensor *deep, const nd4c_tensor *wide, bool to_deep,
                      int64_t number, const int64_t *at_cell) {
  const nd4c_attr_value *block = &call->attrs[ND4C_ATTR_space_to_batch_block_shape];
  const nd4c_attr_value *pads = &call->attrs[ND4C_ATTR_space_to_batch_pads];
  const nd4c_strided deep_view = nd4c_strided_of(deep), wide_view = nd4c_strided_of(wide);
  nd4c_batch_cell cell;
  if (nd4c_batch_cell_find(&deep_view, &wide_view, block->count, block->as.ints, pads->count > 0 ? pads->as.ints : NULL,
                           number, at_cell, &cell)) {
    void *d = at(deep, cell.deep_offset), *x = at(wide, cell.wide_offset);
    move(call, wide->rank, cell.shape, to_deep ? x : d, to_deep ? cell.wide_strides : deep->strides, to_deep ? d : x,
         to_deep ? deep->strides : cell.wide_strides);
  }
}

static void move_cells(const nd4c_call *call, const nd4c_tensor *deep, const nd4c_tensor *wide, bool to_deep) {
  const nd4c_attr_value *block = &call->attrs[ND4C_ATTR_space_to_batch_block_shape];
  int64_t cell[ND4C_CPU_MAX_RANK] = {0}, number = 0;
  do {
    move_cell(call, deep, wide, to_deep, number++, cell);
  } while (nd4c_index_next(block->count, block->as.ints, cell));
}

static nd4c_status space_to_batch_run(const nd4c_call *call) {
  if (call->attrs[ND4C_ATTR_space_to_batch_pads].count > 0) {
    fill(call, nd4c_cpu_zero);
  }
  move_cells(call, &call->outputs[0], &call->inputs[0], true);
  return ND4C_OK;
}

static nd4c_status batch_to_space_run(const nd4c_call *call) {
  move_cells(call, &call->inputs[0], &call->outputs[0], false);
  return ND4C_OK;
}

/* -- windows as columns -------------------------------------------------------------------------------------------- */

nd4c_ref_columns nd4c_cpu_columns(const nd4c_attr_value *attrs, const int64_t *image) {
  nd4c_ref_columns columns = {.spatial = attrs[0].count, .cells = 1};
  for (int32_t i = 0; i < columns.spatial; i++) {
    columns.kernel[i] = attrs[0].as.ints[i];
    columns.stride[i] = attrs[1].count > 0 ? attrs[1].as.ints[i] : 1;
    columns.pad[i] = attrs[2].count > 0 ? attrs[2].as.ints[i] : 0;
    columns.dilation[i] = attrs[3].count > 0 ? attrs[3].as.ints[i] : 1;
    int64_t after = attrs[2].count > 0 ? attrs[2].as.ints[i + columns.spatial] : 0;
    int64_t free = image[i] + columns.pad[i] + after - (columns.kernel[i] - 1) * columns.dilation[i] - 1;
    columns.windows[i] = free / columns.stride[i] + 1;
    columns.cells *= columns.kernel[i];
  }
  return columns;
}

static nd4c_status im2col_run(const nd4c_call *call) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  nd4c_ref_columns columns = nd4c_cpu_columns(&call->attrs[ND4C_ATTR_im2col_kernel], x.shape + 2);
  fill(call, nd4c_cpu_zero);
  if (call->inputs[0].size > 0) {
    nd4c_ref_im2col(&columns, &x, &y);
  }
  return ND4C_OK;
}

ND4C_CPU_RANGE(col2im_range, nd4c_ref_col2im)

static nd4c_status col2im_run(const nd4c_call *call) {
  nd4c_ref_col2im_args args = {.x = nd4c_cpu_ref_input(call, 0), .y = nd4c_cpu_ref_output(call, 0)};
  args.columns = nd4c_cpu_columns(&call->attrs[ND4C_ATTR_col2im_kernel], args.y.shape + 2);
  return nd4c_cpu_reference_parallel(call, call->outputs[0].size, args.columns.cells, col2im_range, &args);
}

/* -- sequences ----------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_cpu_check_lengths(const nd4c_call *call, int64_t steps) {
  const nd4c_tensor *lengths = &call->inputs[1];
  for (int64_t b = 0; b < lengths->size; b++) {
    int64_t length = nd4c_ref_index(lengths->dtype, lengths->data, b * lengths->strides[0]);
    ND4C_CPU_FAIL_IF(length < 0 || length > steps, ND4C_INDEX,
                     "reverse_sequence: lengths[%lld] is %lld, expected 0 to %lld", (long long)b, (long long)length,
                     (long long)steps);
  }
  return ND4C_OK;
}

static nd4c_status reverse_sequence_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *lengths = &call->inputs[1], *y = &call->outputs[0];
  int32_t batch = nd4c_axis(ND4C_INT_OF(call, reverse_sequence_batch_axis), x->rank);
  int32_t time = nd4c_axis(ND4C_INT_OF(call, reverse_sequence_time_axis), x->rank);
  int64_t shape[ND4C_CPU_MAX_RANK], from[ND4C_CPU_MAX_RANK], steps = x->shape[time];
  ND4C_BACKEND_TRY(nd4c_cpu_check_lengths(call, steps));
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = i == batch ? 1 : x->shape[i];
    from[i] = x->strides[i];
  }
  for (int64_t b = 0; b < lengths->size && x->size > 0; b++) {
    int64_t length = nd4c_ref_index(lengths->dtype, lengths->data, b * lengths->strides[0]);
    int64_t begin = b * x->strides[batch], to = b * y->strides[batch];
    shape[time] = length;
    from[time] = -x->strides[time];
    move(call, x->rank, shape, at(x, begin + (length > 0 ? length - 1 : 0) * x->strides[time]), from, at(y, to),
         y->strides);
    shape[time] = steps - length;
    from[time] = x->strides[time];
    if (steps > length) {
      move(call, x->rank, shape, at(x, begin + length * x->strides[time]), from, at(y, to + length * y->strides[time]),
           y->strides);
    }
  }
  return ND4C_OK;
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define M ND4C_CPU_MOVABLE
#define OPS(X) \
  X(stack, M)  \
  X(pad, M)    \
  X(tile, M)   \
  X(repeat, M) X(roll, M) X(space_to_batch, M) X(batch_to_space, M) X(im2col, M) X(col2im, M) X(reverse_sequence, M)
/* X(op, dtypes, expression) */
#define BLOCK_OPS(X)                             \
  X(depth_to_space, M, move_blocks(call, false)) \
  X(space_to_depth, M, move_blocks(call, true))
BLOCK_OPS(ND4C_CPU_REFERENCE_RUN)

const nd4c_kernel *const nd4c_cpu_reference_indexing_arrangement_kernels[] = {
    OPS(ND4C_CPU_REFERENCE_STORED) BLOCK_OPS(ND4C_CPU_REFERENCE_STORED) NULL};
