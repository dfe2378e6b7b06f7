/* Ops that arrange elements anew: joining, padding, repeating, rolling, blocks. Nearly all are copies between views of
 * more axes; the others compute the source of each result from its place. dispatch/choice.c asks these kernels for
 * arrays on OpenCL devices. */
#include <string.h>

#include "backends/opencl/support/moving.h"
#include "backends/reading.h"

/* -- reshaping what no view shows ---------------------------------------------------------------------------------- */

/* Element i of x in C order as element (i + shift) modulo the size of y. */
static nd4c_status renumber(const nd4c_cl_step *step, const nd4c_tensor *x, const nd4c_tensor *y, int64_t shift) {
  nd4c_cl_walk from, to;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &from, x));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &to, y));
  return ND4C_CL_STEP_UNITS(step, "places+move", "reshape", y->dtype, y->size, ND4C_CL_IN(x), ND4C_CL_OUT(y),
                            ND4C_CL_VALUE(from), ND4C_CL_VALUE(to), ND4C_CL_LONG(shift));
}

/* -- joining ------------------------------------------------------------------------------------------------------- */

/* Copies x, cast to y's dtype, to the part of y that begins at element `shift`. */
static nd4c_status join(const nd4c_cl_step *step, const nd4c_tensor *x, const nd4c_tensor *y, int64_t shift,
                        const int64_t *to_strides) {
  const int64_t *strides[2] = {x->strides, to_strides};
  nd4c_cl_walk walk;
  if (x->dtype == y->dtype) {
    return nd4c_cl_move(step, x->rank, x->shape, x, 0, x->strides, y, shift, to_strides);
  }
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, x->rank, x->shape, 2, strides));
  if (nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_step_dtype(step, x->dtype));
    return nd4c_cl_step_dtype(step, y->dtype);
  }
  nd4c_cl_options options = {""};
  ND4C_CL_TYPES(&options, "AY", x->dtype, y->dtype);
  return ND4C_CL_RUN_ITEMS(step->call, "join", "join", options, walk.size, ND4C_CL_IN(x), ND4C_CL_OUT_AT(y, shift),
                           ND4C_CL_VALUE(walk));
}

static nd4c_status concat(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, concat_axis), y->rank);
  int64_t shift = 0;
  for (int32_t i = 0; i < call->input_count; i++) {
    ND4C_BACKEND_TRY(join(step, &call->inputs[i], y, shift, y->strides));
    shift += call->inputs[i].shape[axis] * y->strides[axis];
  }
  return ND4C_OK;
}

static nd4c_status stack(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, stack_axis), y->rank);
  int64_t strides[ND4C_CL_MAX_RANK];
  for (int32_t i = 0; i + 1 < y->rank; i++) {
    strides[i] = y->strides[i < axis ? i : i + 1];
  }
  for (int32_t i = 0; i < call->input_count; i++) {
    ND4C_BACKEND_TRY(join(step, &call->inputs[i], y, i * y->strides[axis], strides));
  }
  return ND4C_OK;
}

/* -- padding and rolling ------------------------------------------------------------------------------------------- */

/* The same struct as nd4c_padding of move.cl. */
typedef struct padding {
  int64_t size;
  int32_t rank, mode, has_value, unused;
  int64_t y_shape[ND4C_CL_RANK], x_shape[ND4C_CL_RANK], begin[ND4C_CL_RANK], x_strides[ND4C_CL_RANK],
      y_strides[ND4C_CL_RANK];
} padding;

/* True if axis i of x and y continues the last one of the padding: neither is padded. */
static bool merge_axis(padding *p, const nd4c_tensor *x, const nd4c_tensor *y, int64_t begin, int32_t i) {
  int32_t last = p->rank - 1;
  if (last < 0 || begin != 0 || p->begin[last] != 0 || x->shape[i] != y->shape[i] ||
      p->x_shape[last] != p->y_shape[last] || p->x_strides[last] != x->strides[i] * x->shape[i] ||
      p->y_strides[last] != y->strides[i] * y->shape[i]) {
    return false;
  }
  p->x_shape[last] *= x->shape[i];
  p->y_shape[last] *= y->shape[i];
  p->x_strides[last] = x->strides[i];
  p->y_strides[last] = y->strides[i];
  return true;
}

/* y[i...] = x[i - begin...], x continued by a mode. */
static nd4c_status pad_by(const nd4c_cl_step *step, const int64_t *begin, int64_t mode, const nd4c_tensor *value) {
  const nd4c_tensor *x = &step->call->inputs[0], *y = &step->call->outputs[0];
  padding p = {.size = y->size, .mode = (int32_t)mode, .has_value = value != NULL};
  for (int32_t i = 0; i < y->rank; i++) {
    if (x->shape[i] == 1 && y->shape[i] == 1 && begin[i] == 0) {
      continue;
    }
    if (merge_axis(&p, x, y, begin[i], i)) {
      continue;
    }
    if (p.rank == ND4C_CL_RANK) {
      return nd4c_cl_step_refuse(step, "more than %d axes stay after merging", (int)ND4C_CL_RANK);
    }
    p.x_shape[p.rank] = x->shape[i];
    p.y_shape[p.rank] = y->shape[i];
    p.begin[p.rank] = begin[i];
    p.x_strides[p.rank] = x->strides[i];
    p.y_strides[p.rank++] = y->strides[i];
  }
  return ND4C_CL_STEP_UNITS(step, "places+move", "pad", y->dtype, y->size, ND4C_CL_IN(x), ND4C_CL_OUT(y),
                            ND4C_CL_IN(value), ND4C_CL_VALUE(p));
}

static nd4c_status pad(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_attr_value *pads = &call->attrs[ND4C_ATTR_pad_pads], *axes = &call->attrs[ND4C_ATTR_pad_axes];
  int64_t begin[ND4C_CL_MAX_RANK] = {0};
  for (int32_t i = 0; i < pads->count / 2; i++) {
    begin[axes->count == 0 ? i : nd4c_axis(axes->as.ints[i], call->inputs[0].rank)] = pads->as.ints[i];
  }
  return pad_by(step, begin, ND4C_INT_OF(call, pad_mode), nd4c_cl_input(call, ND4C_IN_pad_value));
}

/* Rolling is padding with wrap-around on one side and negative padding on the other. */
static nd4c_status roll(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_attr_value *shifts = &call->attrs[ND4C_ATTR_roll_shifts], *axes = &call->attrs[ND4C_ATTR_roll_axes];
  const nd4c_tensor *x = &call->inputs[0];
  int64_t begin[ND4C_CL_MAX_RANK] = {0};
  if (axes->count == 0) {
    return renumber(step, x, &call->outputs[0], nd4c_modulo(shifts->as.ints[0], x->size));
  }
  for (int32_t i = 0; i < axes->count; i++) {
    int32_t axis = nd4c_axis(axes->as.ints[i], x->rank);
    begin[axis] = nd4c_modulo(begin[axis] + nd4c_modulo(shifts->as.ints[i], x->shape[axis]), x->shape[axis]);
  }
  return pad_by(step, begin, ND4C_PAD_MODE_WRAP, NULL);
}

/* Exchanges the halves of the given axes, or of all if none are given. back: the inverse, which differs for odd
 * lengths. */
static nd4c_status shift_halves(const nd4c_cl_step *step, bool back) {
  const nd4c_attr_value *axes = &step->call->attrs[ND4C_ATTR_fftshift_axes];
  const nd4c_tensor *x = &step->call->inputs[0];
  int64_t begin[ND4C_CL_MAX_RANK] = {0};
  bool all = axes->as.ints == NULL;
  for (int32_t i = 0; i < (all ? x->rank : axes->count); i++) {
    int32_t axis = all ? i : nd4c_axis(axes->as.ints[i], x->rank);
    begin[axis] = x->shape[axis] > 1 ? (x->shape[axis] + back) / 2 : 0;
  }
  return pad_by(step, begin, ND4C_PAD_MODE_WRAP, NULL);
}

/* -- repeats ------------------------------------------------------------------------------------------------------- */

static nd4c_status tile(const nd4c_cl_step *step) {
  const nd4c_tensor *x = &step->call->inputs[0], *y = &step->call->outputs[0];
  int64_t shape[2 * ND4C_CL_MAX_RANK], from[2 * ND4C_CL_MAX_RANK], to[2 * ND4C_CL_MAX_RANK];
  if (y->size == 0) {
    return ND4C_OK;
  }
  nd4c_strided x_view = nd4c_strided_of(x), y_view = nd4c_strided_of(y);
  int32_t rank = nd4c_tile_views(&x_view, &y_view, shape, from, to);
  return nd4c_cl_move(step, rank, shape, x, 0, from, y, 0, to);
}

/* Where repeat's slices begin: one number a slice, then three that tell what is wrong with counts, then one for each of
 * the chunks in which counts are added up. */
enum { REPEAT_VERDICT = 3, NUMBERS_AT_ONCE = 64, LEAST_CHUNK = 64, MOST_CHUNKS = 1024 };

static int64_t repeat_slices(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const nd4c_attr_value *axes = &call->attrs[ND4C_ATTR_repeat_axes];
  return axes->count == 0 ? x->size : x->shape[nd4c_axis(axes->as.ints[0], x->rank)];
}

static int64_t repeat_chunk(int64_t slices) {
  int64_t chunk = (slices + MOST_CHUNKS - 1) / MOST_CHUNKS;
  return chunk > LEAST_CHUNK ? chunk : LEAST_CHUNK;
}

static bool repeats_alike(const nd4c_call *call) {
  return nd4c_cl_input(call, ND4C_IN_repeat_counts) == NULL && call->attrs[ND4C_ATTR_repeat_repeats].count == 1;
}

static int64_t repeat_scratch(const nd4c_call *call) {
  return repeats_alike(call) ? 0 : (repeat_slices(call) + REPEAT_VERDICT + MOST_CHUNKS) * (int64_t)sizeof(int64_t);
}

/* A launch over the counts, whose first arguments they are. */
#define RUN_COUNTS(call, function, count, ...)                                                    \
  ND4C_CL_RUN_UNITS(call, "places+numbers", function, ND4C_DTYPE_NONE, count, ND4C_CL_IN(counts), \
                    ND4C_CL_LONG(counts->strides[0]), ND4C_CL_INT(counts->dtype == ND4C_INT64),   \
                    ND4C_CL_LONG(counts->size), __VA_ARGS__)

/* Sums the counts on the device; only the verdict is read back. */
static nd4c_status starts_from_counts(const nd4c_call *call, int64_t slices) {
  int64_t total = ND4C_INT_OF(call, repeat_total), verdict[REPEAT_VERDICT] = {-1, 0, total};
  int64_t chunk = repeat_chunk(slices), chunks = (slices + chunk - 1) / chunk, sums = slices + REPEAT_VERDICT;
  const nd4c_tensor *counts = nd4c_cl_input(call, ND4C_IN_repeat_counts);
  ND4C_BACKEND_TRY(
      RUN_COUNTS(call, "repeat_sums", chunks, ND4C_CL_LONG(total, chunk), ND4C_CL_SCRATCH(WRITE), ND4C_CL_LONG(sums)));
  ND4C_BACKEND_TRY(RUN_COUNTS(call, "repeat_chain", 1, ND4C_CL_LONG(total, chunk), ND4C_CL_SCRATCH(READ_WRITE),
                              ND4C_CL_LONG(slices, sums, chunks)));
  ND4C_BACKEND_TRY(nd4c_cl_read_back(call, call->scratch_buffer, slices * (int64_t)sizeof *verdict, verdict,
                                     (int64_t)sizeof verdict));
  if (verdict[0] >= 0) {
    return nd4c_cl_host->fail(ND4C_ARGUMENT, "repeat: counts[%lld] is %lld, expected 0 to %lld, what is left of total",
                              (long long)verdict[0], (long long)verdict[1], (long long)verdict[2]);
  }
  if (verdict[2] != 0) {
    return nd4c_cl_host->fail(ND4C_ARGUMENT, "repeat: the sum of counts is %lld, expected total, %lld",
                              (long long)(total - verdict[2]), (long long)total);
  }
  return RUN_COUNTS(call, "repeat_starts", chunks, ND4C_CL_LONG(chunk), ND4C_CL_SCRATCH(READ_WRITE),
                    ND4C_CL_LONG(sums));
}

/* The attribute's numbers go as arguments, some at a time. */
static nd4c_status starts_from_attribute(const nd4c_call *call, int64_t slices) {
  const int64_t *repeats = call->attrs[ND4C_ATTR_repeat_repeats].as.ints;
  int64_t start = 0;
  for (int64_t done = 0; done < slices; done += NUMBERS_AT_ONCE) {
    int64_t numbers[NUMBERS_AT_ONCE] = {0}, count = slices - done;
    count = count < NUMBERS_AT_ONCE ? count : NUMBERS_AT_ONCE;
    for (int64_t i = 0; i < count; i++) {
      numbers[i] = start;
      start += repeats[done + i];
    }
    ND4C_BACKEND_TRY(ND4C_CL_RUN_UNITS(call, "places+numbers", "put_numbers", ND4C_DTYPE_NONE, count,
                                       ND4C_CL_SCRATCH(WRITE), ND4C_CL_LONG(done),
                                       ND4C_CL_BYTES(numbers, sizeof numbers)));
  }
  return ND4C_OK;
}

static nd4c_status repeat(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0], *counts = nd4c_cl_input(call, ND4C_IN_repeat_counts);
  const nd4c_attr_value *axes = &call->attrs[ND4C_ATTR_repeat_axes], *repeats = &call->attrs[ND4C_ATTR_repeat_repeats];
  bool flat = axes->count == 0;
  int32_t axis = flat ? 0 : nd4c_axis(axes->as.ints[0], x->rank);
  int64_t slices = repeat_slices(call), from[ND4C_CL_MAX_RANK] = {0}, place[ND4C_CL_MAX_RANK] = {0};
  for (int32_t i = 0; i < y->rank && !flat; i++) {
    from[i] = i == axis ? 0 : x->strides[i];
  }
  place[axis] = 1;
  const int64_t *strides[3] = {from, y->strides, place}, *slice_strides = flat ? x->strides : &x->strides[axis];
  nd4c_cl_walk walk, slice_walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, y->rank, y->shape, 3, strides));
  ND4C_BACKEND_TRY(
      nd4c_cl_step_walk(step, &slice_walk, flat ? x->rank : 1, flat ? x->shape : &x->shape[axis], 1, &slice_strides));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  if (counts != NULL) {
    ND4C_BACKEND_TRY(starts_from_counts(call, slices));
  } else if (repeats->count > 1) {
    ND4C_BACKEND_TRY(starts_from_attribute(call, slices));
  }
  if (y->size == 0) {
    return ND4C_OK;
  }
  bool alike = repeats_alike(call);
  return ND4C_CL_RUN_UNITS(call, "places+move", "repeat", y->dtype, y->size, ND4C_CL_IN(x), ND4C_CL_OUT(y),
                           ND4C_CL_BUFFER(alike ? x->buffer : call->scratch_buffer, ND4C_CL_READ),
                           ND4C_CL_LONG(slices, alike ? repeats->as.ints[0] : 0), ND4C_CL_VALUE(walk),
                           ND4C_CL_VALUE(slice_walk));
}

/* -- blocks -------------------------------------------------------------------------------------------------------- */

static nd4c_status move_blocks(const nd4c_cl_step *step, bool to_deep) {
  const nd4c_call *call = step->call;
  const nd4c_attr_value *attrs = call->attrs;
  nd4c_strided x = nd4c_strided_of(&call->inputs[0]), y = nd4c_strided_of(&call->outputs[0]);
  int64_t shape[ND4C_CL_MAX_RANK + 2], from[ND4C_CL_MAX_RANK + 2], to[ND4C_CL_MAX_RANK + 2];
  int32_t rank = nd4c_depth_views(to_deep ? &y : &x, to_deep ? &x : &y, attrs[ND4C_ATTR_depth_to_space_block_size].as.i,
                                  attrs[ND4C_ATTR_depth_to_space_depth_first].as.i != 0,
                                  attrs[ND4C_ATTR_depth_to_space_channels_last].as.i != 0, shape, to_deep ? to : from,
                                  to_deep ? from : to);
  return nd4c_cl_move(step, rank, shape, &call->inputs[0], 0, from, &call->outputs[0], 0, to);
}

static nd4c_status move_cell(const nd4c_cl_step *step, bool to_deep, int64_t number, const int64_t *at_cell) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *deep = to_deep ? &call->outputs[0] : &call->inputs[0];
  const nd4c_tensor *wide = to_deep ? &call->inputs[0] : &call->outputs[0];
  const nd4c_attr_value *block = &call->attrs[ND4C_ATTR_space_to_batch_block_shape];
  const nd4c_attr_value *pads = &call->attrs[ND4C_ATTR_space_to_batch_pads];
  const nd4c_strided deep_view = nd4c_strided_of(deep), wide_view = nd4c_strided_of(wide);
  nd4c_batch_cell c;
  if (!nd4c_batch_cell_find(&deep_view, &wide_view, block->count, block->as.ints,
                            pads->count > 0 ? pads->as.ints : NULL, number, at_cell, &c)) {
    return ND4C_OK;
  }
  return to_deep ? nd4c_cl_move(step, wide->rank, c.shape, wide, c.wide_offset, c.wide_strides, deep, c.deep_offset,
                                deep->strides)
                 : nd4c_cl_move(step, wide->rank, c.shape, deep, c.deep_offset, deep->strides, wide, c.wide_offset,
                                c.wide_strides);
}

static nd4c_status move_cells(const nd4c_cl_step *step, bool to_deep) {
  const nd4c_attr_value *block = &step->call->attrs[ND4C_ATTR_space_to_batch_block_shape];
  int64_t cell[ND4C_CL_MAX_RANK] = {0}, number = 0;
  int32_t axis;
  do {
    ND4C_BACKEND_TRY(move_cell(step, to_deep, number++, cell));
    for (axis = block->count - 1; axis >= 0 && ++cell[axis] == block->as.ints[axis]; axis--) {
      cell[axis] = 0;
    }
  } while (axis >= 0);
  return ND4C_OK;
}

static nd4c_status space_to_batch(const nd4c_cl_step *step) {
  if (step->call->attrs[ND4C_ATTR_space_to_batch_pads].count > 0) {
    ND4C_BACKEND_TRY(nd4c_cl_zero(step, &step->call->outputs[0]));
  }
  return move_cells(step, true);
}

/* -- sequences ----------------------------------------------------------------------------------------------------- */

static nd4c_status reverse_sequence(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *lengths = &call->inputs[1], *y = &call->outputs[0];
  int32_t batch = nd4c_axis(ND4C_INT_OF(call, reverse_sequence_batch_axis), x->rank);
  int32_t time = nd4c_axis(ND4C_INT_OF(call, reverse_sequence_time_axis), x->rank);
  int64_t from[ND4C_CL_MAX_RANK], length[ND4C_CL_MAX_RANK] = {0}, place[ND4C_CL_MAX_RANK] = {0};
  const int64_t *strides[4] = {from, y->strides, length, place};
  for (int32_t i = 0; i < x->rank; i++) {
    from[i] = i == time ? 0 : x->strides[i];
  }
  length[batch] = lengths->strides != NULL ? lengths->strides[0] : 0;
  place[time] = 1;
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, x->rank, x->shape, 4, strides));
  return ND4C_CL_STEP_UNITS(step, "places+move", "reverse_sequence", y->dtype, y->size, ND4C_CL_IN(x), ND4C_CL_OUT(y),
                            ND4C_CL_IN(lengths), ND4C_CL_INT(lengths->dtype == ND4C_INT64),
                            ND4C_CL_LONG(x->shape[time], x->strides[time]), ND4C_CL_VALUE(walk), ND4C_CL_FAULT);
}

/* -- windows as columns -------------------------------------------------------------------------------------------- */

static nd4c_status im2col(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_cl_columns columns;
  ND4C_BACKEND_TRY(nd4c_cl_columns_make(step, &call->attrs[ND4C_ATTR_im2col_kernel], x, y, &columns));
  return ND4C_CL_STEP_UNITS(step, "places+move", "im2col", y->dtype, y->size, ND4C_CL_IN(x), ND4C_CL_OUT(y),
                            ND4C_CL_VALUE(columns));
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define OPS(X)                                                                         \
  X(reshape, renumber(step, &step->call->inputs[0], &step->call->outputs[0], 0), NULL) \
  X(flatten, renumber(step, &step->call->inputs[0], &step->call->outputs[0], 0), NULL) \
  X(concat, concat(step), NULL)                                                        \
  X(stack, stack(step), NULL)                                                          \
  X(pad, pad(step), NULL)                                                              \
  X(tile, tile(step), NULL)                                                            \
  X(repeat, repeat(step), repeat_scratch)                                              \
  X(roll, roll(step), NULL)                                                            \
  X(fftshift, shift_halves(step, false), NULL)                                         \
  X(ifftshift, shift_halves(step, true), NULL)                                         \
  X(depth_to_space, move_blocks(step, false), NULL)                                    \
  X(space_to_depth, move_blocks(step, true), NULL)                                     \
  X(space_to_batch, space_to_batch(step), NULL)                                        \
  X(batch_to_space, move_cells(step, false), NULL)                                     \
  X(im2col, im2col(step), NULL)                                                        \
  X(reverse_sequence, reverse_sequence(step), NULL)
#define DEFINE_KERNEL(op, what, scratch) ND4C_CL_STEP_KERNEL(op, ND4C_CL_MOVABLE, what, scratch)
OPS(DEFINE_KERNEL)

const nd4c_kernel *const nd4c_cl_indexing_arrangement_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
