/* Engine simd: ops that are copies between views of other strides: diagonals, blocks of space as batches, windows as
 * columns, reversed sequences, complex numbers and their parts. Each result is zeros where no copy writes.
 * dispatch/choice.c asks these kernels before the reference's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"
#include "backends/cpu/support/nest.h"

/* A view with its own axes. */
typedef struct view {
  nd4c_tensor tensor;
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
} view;

static void view_start(view *v, const nd4c_tensor *of) {
  v->tensor = *of;
  v->tensor.rank = 0;
  v->tensor.size = 1;
  v->tensor.flags = 0;
  v->tensor.shape = v->shape;
  v->tensor.strides = v->strides;
}

static void view_axis(view *v, int64_t extent, int64_t stride) {
  v->shape[v->tensor.rank] = extent;
  v->strides[v->tensor.rank++] = stride;
  v->tensor.size *= extent;
}

static void view_move(view *v, int64_t elements) {
  v->tensor.data = (char *)v->tensor.data + elements * nd4c_cpu_dtype_bytes(v->tensor.dtype);
}

static void copy(const view *from, const view *to, int32_t width) {
  if (to->tensor.size > 0) {
    nd4c_nest_copy_tensor(&from->tensor, &to->tensor, width);
  }
}

static void clear(const nd4c_tensor *y, int32_t width) {
  static char zero[sizeof nd4c_cpu_zero]; /* a tensor's data is not const; this is only read */
  nd4c_tensor nothing = *y;
  nothing.rank = 0;
  nothing.size = 1;
  nothing.shape = nothing.strides = NULL;
  nothing.data = zero;
  if (y->size > 0) {
    nd4c_nest_copy_tensor(&nothing, y, width);
  }
}

/* -- diagonals ----------------------------------------------------------------------------------------------------- */

static nd4c_status embed(const nd4c_call *call, int32_t a, int32_t b, int64_t k) {
  nd4c_cpu_diagonal_parts parts;
  clear(&call->outputs[0], call->width);
  if (call->inputs[0].size > 0) {
    const nd4c_tensor diagonal = nd4c_cpu_diagonal(&call->outputs[0], a, b, k, &parts);
    nd4c_nest_copy_tensor(&call->inputs[0], &diagonal, call->width);
  }
  return ND4C_OK;
}

static nd4c_status run_diag(const nd4c_call *call) {
  nd4c_cpu_diagonal_parts parts;
  const int64_t k = ND4C_INT_OF(call, diag_k);
  if (call->inputs[0].rank == 1) {
    return embed(call, 0, 1, k);
  }
  if (call->outputs[0].size > 0) {
    const nd4c_tensor diagonal = nd4c_cpu_diagonal(&call->inputs[0], 0, 1, k, &parts);
    nd4c_nest_copy_tensor(&diagonal, &call->outputs[0], call->width);
  }
  return ND4C_OK;
}

static nd4c_status run_diag_embed(const nd4c_call *call) {
  const int32_t rank = call->outputs[0].rank;
  return embed(call, nd4c_axis(ND4C_INT_OF(call, diag_embed_axis1), rank),
               nd4c_axis(ND4C_INT_OF(call, diag_embed_axis2), rank), ND4C_INT_OF(call, diag_embed_offset));
}

static nd4c_status run_matrix_set_diag(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_cpu_diagonal_parts parts;
  if (y->size == 0) {
    return ND4C_OK;
  }
  if (x->data != y->data) { /* in place both are the same view */
    nd4c_nest_copy_tensor(x, y, call->width);
  }
  const nd4c_tensor to = nd4c_cpu_diagonal(y, y->rank - 2, y->rank - 1, ND4C_INT_OF(call, matrix_set_diag_k), &parts);
  if (to.size > 0) {
    nd4c_nest_copy_tensor(&call->inputs[1], &to, call->width);
  }
  return ND4C_OK;
}

/* -- blocks of space as batches ------------------------------------------------------------------------------------ */

/* deep: with blocks as batches; wide: the space. */
static void move_cells(const nd4c_call *call, const nd4c_tensor *deep, const nd4c_tensor *wide, bool to_deep) {
  const nd4c_attr_value *block = &call->attrs[ND4C_ATTR_space_to_batch_block_shape];
  const nd4c_attr_value *pads = &call->attrs[ND4C_ATTR_space_to_batch_pads];
  const nd4c_strided deep_view = nd4c_strided_of(deep), wide_view = nd4c_strided_of(wide);
  int64_t position[ND4C_CPU_MAX_RANK] = {0}, number = 0;
  do {
    nd4c_batch_cell cell;
    if (!nd4c_batch_cell_find(&deep_view, &wide_view, block->count, block->as.ints,
                              pads->count > 0 ? pads->as.ints : NULL, number++, position, &cell)) {
      continue;
    }
    view in_deep, in_wide;
    view_start(&in_deep, deep);
    view_start(&in_wide, wide);
    for (int32_t i = 0; i < wide->rank; i++) {
      view_axis(&in_deep, cell.shape[i], deep->strides[i]);
      view_axis(&in_wide, cell.shape[i], cell.wide_strides[i]);
    }
    view_move(&in_deep, cell.deep_offset);
    view_move(&in_wide, cell.wide_offset);
    copy(to_deep ? &in_wide : &in_deep, to_deep ? &in_deep : &in_wide, call->width);
  } while (nd4c_index_next(block->count, block->as.ints, position));
}

static nd4c_status run_space_to_batch(const nd4c_call *call) {
  const nd4c_attr_value *pads = &call->attrs[ND4C_ATTR_space_to_batch_pads];
  bool pads_any = false;
  for (int32_t i = 0; i < pads->count; i++) {
    pads_any = pads_any || pads->as.ints[i] != 0;
  }
  if (pads_any) {
    clear(&call->outputs[0], call->width);
  }
  move_cells(call, &call->outputs[0], &call->inputs[0], true);
  return ND4C_OK;
}

static nd4c_status run_batch_to_space(const nd4c_call *call) {
  move_cells(call, &call->inputs[0], &call->outputs[0], false);
  return ND4C_OK;
}

/* -- windows as columns -------------------------------------------------------------------------------------------- */

/* The windows whose element at this cell of the kernel lies in x, all of them at once. y is contiguous. */
static void copy_cell(const nd4c_call *call, const nd4c_ref_columns *columns, int64_t number, const int64_t *cell) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t windows = y->shape[2], step[ND4C_CPU_MAX_RANK];
  view from, to;
  view_start(&from, x);
  view_start(&to, y);
  for (int32_t axis = 0; axis < 2; axis++) {
    view_axis(&from, x->shape[axis], x->strides[axis]);
    view_axis(&to, x->shape[axis], axis == 0 ? y->strides[0] : columns->cells * windows);
  }
  view_move(&to, number * windows);
  for (int32_t i = 0; i < columns->spatial; i++) {
    windows /= columns->windows[i];
    step[i] = windows;
  }
  for (int32_t i = 0; i < columns->spatial; i++) {
    /* Window w begins at w stride - pad. */
    const int64_t stride = columns->stride[i], shift = cell[i] * columns->dilation[i] - columns->pad[i];
    const int64_t first = shift < 0 ? nd4c_cpu_divide_up(-shift, stride) : 0, room = x->shape[i + 2] - shift;
    const int64_t end = room <= 0 ? 0 : nd4c_cpu_divide_up(room, stride);
    const int64_t last = end < columns->windows[i] ? end : columns->windows[i];
    view_axis(&from, last > first ? last - first : 0, stride * x->strides[i + 2]);
    view_axis(&to, last > first ? last - first : 0, step[i]);
    if (last > first) {
      view_move(&from, (first * stride + shift) * x->strides[i + 2]);
      view_move(&to, first * step[i]);
    }
  }
  copy(&from, &to, call->width);
}

static bool usable_im2col(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0, "the output is not contiguous");
  return true;
}

static nd4c_status run_im2col(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const nd4c_ref_columns columns = nd4c_cpu_columns(&call->attrs[ND4C_ATTR_im2col_kernel], x->shape + 2);
  const nd4c_attr_value *pads = &call->attrs[ND4C_ATTR_im2col_kernel + 2];
  int64_t cell[ND4C_CPU_MAX_RANK] = {0}, number = 0;
  if (pads->count > 0 || x->size == 0) {
    clear(&call->outputs[0], call->width);
  }
  if (x->size == 0 || call->outputs[0].size == 0) {
    return ND4C_OK;
  }
  do {
    copy_cell(call, &columns, number++, cell);
  } while (nd4c_index_next(columns.spatial, columns.kernel, cell));
  return ND4C_OK;
}

/* -- sequences ----------------------------------------------------------------------------------------------------- */

/* Steps [first, first + count) of sequence b, in order or reversed. */
static void copy_steps(const nd4c_call *call, int32_t batch, int32_t time, int64_t b, int64_t first, int64_t count,
                       bool reversed) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  view from, to;
  view_start(&from, x);
  view_start(&to, y);
  for (int32_t i = 0; i < x->rank; i++) {
    const int64_t extent = i == batch ? 1 : i == time ? count : x->shape[i];
    view_axis(&from, extent, i == time && reversed ? -x->strides[i] : x->strides[i]);
    view_axis(&to, extent, y->strides[i]);
  }
  view_move(&from, b * x->strides[batch] + (reversed ? first + count - 1 : first) * x->strides[time]);
  view_move(&to, b * y->strides[batch] + first * y->strides[time]);
  copy(&from, &to, call->width);
}

static nd4c_status run_reverse_sequence(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *lengths = &call->inputs[1];
  const int32_t batch = nd4c_axis(ND4C_INT_OF(call, reverse_sequence_batch_axis), x->rank);
  const int32_t time = nd4c_axis(ND4C_INT_OF(call, reverse_sequence_time_axis), x->rank);
  ND4C_BACKEND_TRY(nd4c_cpu_check_lengths(call, x->shape[time]));
  for (int64_t b = 0; b < lengths->size && x->size > 0; b++) {
    const int64_t length = nd4c_ref_index(lengths->dtype, lengths->data, b * lengths->strides[0]);
    if (length > 0) {
      copy_steps(call, batch, time, b, 0, length, true);
    }
    if (length < x->shape[time]) {
      copy_steps(call, batch, time, b, length, x->shape[time] - length, false);
    }
  }
  return ND4C_OK;
}

/* -- complex numbers ----------------------------------------------------------------------------------------------- */

/* Complex numbers as their parts: an axis of two behind the others. */
static void view_parts(view *v, const nd4c_tensor *x) {
  view_start(v, x);
  v->tensor.dtype = x->dtype == ND4C_COMPLEX64 ? ND4C_FLOAT32 : ND4C_FLOAT64;
  for (int32_t i = 0; i < x->rank; i++) {
    view_axis(v, x->shape[i], 2 * x->strides[i]);
  }
  view_axis(v, 2, 1);
}

static bool is_complex(const nd4c_tensor *x) {
  return (ND4C_DTYPE_BIT(x->dtype) & ND4C_CPU_COMPLEXES) != 0;
}

static bool usable_view_as_complex(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(x->rank == ND4C_CPU_MAX_RANK, "%d axes", ND4C_CPU_MAX_RANK);
  ND4C_CPU_DECLINE_IF(x->dtype != (y->dtype == ND4C_COMPLEX64 ? ND4C_FLOAT32 : ND4C_FLOAT64), "parts are converted");
  return true;
}

static nd4c_status run_view_as_complex(const nd4c_call *call) {
  view to;
  view_parts(&to, &call->outputs[0]);
  if (to.tensor.size > 0) {
    nd4c_nest_copy_tensor(&call->inputs[0], &to.tensor, call->width);
  }
  return ND4C_OK;
}

static bool usable_view_as_real(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(y->rank == ND4C_CPU_MAX_RANK, "%d axes", ND4C_CPU_MAX_RANK);
  ND4C_CPU_DECLINE_IF(!is_complex(x) && x->dtype != y->dtype, "numbers are converted");
  return true;
}

static nd4c_status run_view_as_real(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  view from, to;
  if (y->size == 0) {
    return ND4C_OK;
  }
  if (is_complex(x)) {
    view_parts(&from, x);
    nd4c_nest_copy_tensor(&from.tensor, y, call->width);
    return ND4C_OK;
  }
  view_start(&to, y);
  for (int32_t i = 0; i < x->rank; i++) {
    view_axis(&to, x->shape[i], y->strides[i]);
  }
  nd4c_nest_copy_tensor(x, &to.tensor, call->width);
  view_move(&to, y->strides[x->rank]);
  clear(&to.tensor, call->width);
  return ND4C_OK;
}

#define MOVE(op) ND4C_CPU_SIMD_KERNEL(op, ND4C_CPU_MOVABLE, NULL, run_##op)

const nd4c_kernel *const nd4c_cpu_simd_indexing_views_kernels[] = {
    MOVE(diag),
    MOVE(diag_embed),
    MOVE(matrix_set_diag),
    MOVE(space_to_batch),
    MOVE(batch_to_space),
    MOVE(reverse_sequence),
    ND4C_CPU_SIMD_KERNEL(im2col, ND4C_CPU_MOVABLE, usable_im2col, run_im2col),
    ND4C_CPU_SIMD_KERNEL(view_as_complex, ND4C_CPU_FLOATS, usable_view_as_complex, run_view_as_complex),
    ND4C_CPU_SIMD_KERNEL(view_as_real, ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES, usable_view_as_real, run_view_as_real),
    NULL};
