/* Engine reference: triangles and diagonals, one-hot and masks from indices, partitions and segments. dispatch/choice.c
 * asks these kernels last, after those of all other engines. */
#include "backends/cpu/reference/work.h"
#include "backends/cpu/support/moving.h"
#include "kernels/reference/indexing/arrangement.h"
#include "kernels/reference/indexing/indexing.h"
#include "kernels/reference/indexing/parts.h"

/* -- triangles and diagonals --------------------------------------------------------------------------------------- */

static nd4c_status band(const nd4c_call *call, int64_t lower, int64_t upper) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  nd4c_ref_band(&x, &y, lower, upper);
  return ND4C_OK;
}

static nd4c_status matrix_band_part_run(const nd4c_call *call) {
  int64_t lower = ND4C_INT_OF(call, matrix_band_part_lower);
  int64_t upper = ND4C_INT_OF(call, matrix_band_part_upper);
  return band(call, lower < 0 ? INT64_MIN : -lower, upper < 0 ? INT64_MAX : upper);
}

nd4c_tensor nd4c_cpu_diagonal(const nd4c_tensor *x, int32_t a, int32_t b, int64_t k, nd4c_cpu_diagonal_parts *parts) {
  int64_t rows = x->shape[a], columns = x->shape[b];
  int64_t row = k < 0 ? (k < -rows ? rows : -k) : 0, column = k > 0 ? (k > columns ? columns : k) : 0;
  int64_t down = rows - row, right = columns - column;
  nd4c_tensor diagonal = *x;
  diagonal.rank = 0;
  diagonal.shape = parts->shape;
  diagonal.strides = parts->strides;
  diagonal.flags = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != a && i != b) {
      parts->shape[diagonal.rank] = x->shape[i];
      parts->strides[diagonal.rank++] = x->strides[i];
    }
  }
  parts->shape[diagonal.rank] = down < right ? down : right;
  parts->strides[diagonal.rank++] = x->strides[a] + x->strides[b];
  diagonal.data = (char *)x->data + (row * x->strides[a] + column * x->strides[b]) * nd4c_reference_bytes(x->dtype);
  diagonal.size = 1;
  for (int32_t i = 0; i < diagonal.rank; i++) {
    diagonal.size *= parts->shape[i];
  }
  return diagonal;
}

static nd4c_ref_tensor diagonal_of(const nd4c_tensor *x, int32_t a, int32_t b, int64_t k,
                                   nd4c_cpu_diagonal_parts *parts) {
  const nd4c_tensor diagonal = nd4c_cpu_diagonal(x, a, b, k, parts);
  return nd4c_cpu_ref_tensor(&diagonal);
}

static nd4c_status embed(const nd4c_call *call, int32_t a, int32_t b, int64_t k) {
  nd4c_cpu_diagonal_parts parts;
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  nd4c_ref_fill(&y, nd4c_cpu_zero);
  if (call->inputs[0].size > 0) {
    nd4c_ref_tensor diagonal = diagonal_of(&call->outputs[0], a, b, k, &parts);
    nd4c_ref_copy(&x, &diagonal);
  }
  return ND4C_OK;
}

static nd4c_status diag_run(const nd4c_call *call) {
  nd4c_cpu_diagonal_parts parts;
  int64_t k = ND4C_INT_OF(call, diag_k);
  if (call->inputs[0].rank == 1) {
    return embed(call, 0, 1, k);
  }
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0);
  if (call->outputs[0].size > 0) {
    nd4c_ref_tensor diagonal = diagonal_of(&call->inputs[0], 0, 1, k, &parts);
    nd4c_ref_copy(&diagonal, &y);
  }
  return ND4C_OK;
}

static nd4c_status diag_embed_run(const nd4c_call *call) {
  int32_t rank = call->outputs[0].rank;
  return embed(call, nd4c_axis(ND4C_INT_OF(call, diag_embed_axis1), rank),
               nd4c_axis(ND4C_INT_OF(call, diag_embed_axis2), rank), ND4C_INT_OF(call, diag_embed_offset));
}

static nd4c_status matrix_set_diag_run(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_cpu_diagonal_parts parts;
  int64_t strides[ND4C_CPU_MAX_RANK];
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0), whole = nd4c_cpu_ref_tensor(y);
  nd4c_ref_copy(&x, &whole);
  nd4c_ref_tensor to = diagonal_of(y, y->rank - 2, y->rank - 1, ND4C_INT_OF(call, matrix_set_diag_k), &parts);
  nd4c_tensor as = {.rank = to.rank, .shape = parts.shape};
  nd4c_cpu_broadcast_strides(&call->inputs[1], &as, strides);
  nd4c_ref_tensor from = {to.dtype, to.rank, parts.shape, strides, call->inputs[1].data};
  nd4c_ref_copy(&from, &to);
  return ND4C_OK;
}

/* -- from indices -------------------------------------------------------------------------------------------------- */

static nd4c_status sequence_mask_run(const nd4c_call *call) {
  nd4c_ref_tensor lengths = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  int64_t strides[ND4C_CPU_MAX_RANK];
  for (int32_t i = 0; i < y.rank; i++) {
    strides[i] = i < lengths.rank ? lengths.strides[i] : 0;
  }
  lengths.strides = strides;
  nd4c_ref_sequence_mask(&lengths, &y);
  return ND4C_OK;
}

static nd4c_status one_hot_run(const nd4c_call *call) {
  const nd4c_tensor *values = nd4c_cpu_input(call, ND4C_IN_one_hot_values);
  nd4c_ref_tensor indices = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  char off[16], on[16];
  nd4c_ref_number(y.dtype, 0, off);
  nd4c_ref_number(y.dtype, 1, on);
  if (values != NULL) {
    int64_t bytes = nd4c_reference_bytes(y.dtype);
    const char *first = values->data;
    nd4c_ref_move_one(bytes, first, off);
    nd4c_ref_move_one(bytes, first + values->strides[0] * bytes, on);
  }
  nd4c_ref_fill(&y, off);
  nd4c_ref_one_hot(&indices, &y, nd4c_axis(ND4C_INT_OF(call, one_hot_axis), y.rank), on);
  return ND4C_OK;
}

/* Sets inverse[x[i]] = i. Elements are -1 before they are set, so that a number that comes twice is found. */
static nd4c_status invert(const nd4c_call *call, int64_t *inverse) {
  const nd4c_tensor *x = &call->inputs[0];
  for (int64_t i = 0; i < x->size; i++) {
    inverse[i] = -1;
  }
  for (int64_t i = 0; i < x->size; i++) {
    int64_t value = nd4c_ref_index(x->dtype, x->data, i * x->strides[0]);
    ND4C_CPU_FAIL_IF(value < 0 || value >= x->size || inverse[value] >= 0, ND4C_INDEX,
                     "invert_permutation: x[%lld] is %lld, expected each of 0 to %lld once", (long long)i,
                     (long long)value, (long long)(x->size - 1));
    inverse[value] = i;
  }
  return ND4C_OK;
}

static nd4c_status invert_permutation(const nd4c_call *call, nd4c_cpu_work *work) {
  int64_t *inverse = nd4c_cpu_work_output_integers(work, 0);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  return invert(call, inverse);
}

static nd4c_status unravel_index_run(const nd4c_call *call) {
  const nd4c_attr_value *shape = &call->attrs[ND4C_ATTR_unravel_index_shape];
  nd4c_ref_tensor indices = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  int64_t size = 1;
  for (int32_t i = 0; i < shape->count; i++) {
    size *= shape->as.ints[i];
  }
  ND4C_BACKEND_TRY(nd4c_cpu_check_indices(call, 0, 0, size));
  nd4c_ref_unravel(&indices, shape->count, shape->as.ints, &y);
  return ND4C_OK;
}

static nd4c_status ravel_multi_index_run(const nd4c_call *call) {
  const nd4c_attr_value *shape = &call->attrs[ND4C_ATTR_ravel_multi_index_shape];
  nd4c_ref_tensor indices = nd4c_cpu_ref_input(call, 0), y = nd4c_cpu_ref_output(call, 0);
  nd4c_ref_bad_index bad;
  if (!nd4c_ref_check_multi(&indices, shape->as.ints, &bad)) {
    return nd4c_cpu_index_fail(call, 0, bad.flat, bad.value, bad.axis, bad.extent);
  }
  nd4c_ref_ravel(&indices, shape->as.ints, &y);
  return ND4C_OK;
}

/* -- partitions and segments --------------------------------------------------------------------------------------- */

/* Refuses numbers that are not in 0 .. count - 1; `largest` gets the largest of them, -1 if there are none. */
static nd4c_status check_groups(const nd4c_call *call, int64_t count, int64_t *largest) {
  nd4c_ref_tensor groups = nd4c_cpu_ref_input(call, 1);
  nd4c_ref_walk walk;
  *largest = -1;
  int64_t number = 0;
  for (bool more = nd4c_ref_walk_start(&walk, groups.rank, groups.shape, 1, &groups.strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++, number++) {
      int64_t group = nd4c_ref_index(groups.dtype, groups.data, walk.at[0] + i * walk.step[0]);
      ND4C_CPU_FAIL_IF(group < 0 || group >= count, ND4C_INDEX, "%s: number %lld of %s is %lld, expected 0 to %lld",
                       call->op->name, (long long)number, call->op->inputs[1].name, (long long)group,
                       (long long)(count - 1));
      *largest = group > *largest ? group : *largest;
    }
  }
  return ND4C_OK;
}

/* Copies the rows of x to y in the order `order`. A row of x is a position of its first axes. */
static void move_rows(const nd4c_call *call, const int64_t *order) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_ref_tensor rows = nd4c_cpu_ref_tensor(x);
  nd4c_ref_plan plan;
  rows.rank = call->inputs[1].rank;
  nd4c_ref_plan_make(&plan, NULL, x->dtype, x->rank - rows.rank, x->shape + rows.rank, x->strides + rows.rank,
                     y->strides + 1);
  for (int64_t i = 0; i < y->shape[0] && plan.size > 0; i++) {
    int64_t from = nd4c_ref_offset(&rows, rows.rank, rows.shape, order[i]);
    nd4c_ref_plan_run(&plan, (const char *)x->data + from * plan.bytes,
                      (char *)y->data + i * y->strides[0] * plan.bytes);
  }
}

static nd4c_status dynamic_partition(const nd4c_call *call, nd4c_cpu_work *work) {
  nd4c_ref_tensor partitions = nd4c_cpu_ref_input(call, 1);
  int64_t groups = call->outputs[1].shape[0], largest;
  int64_t *starts = nd4c_cpu_work_make_integers(work, groups + 1), *counts = nd4c_cpu_work_output_integers(work, 1);
  int64_t *order = nd4c_cpu_work_make_integers(work, call->inputs[1].size);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  ND4C_BACKEND_TRY(check_groups(call, groups, &largest));
  nd4c_ref_group(&partitions, groups, starts, order);
  move_rows(call, order);
  for (int64_t i = 0; i < groups; i++) {
    counts[i] = starts[i + 1] - starts[i];
  }
  return ND4C_OK;
}

static nd4c_status dynamic_stitch_run(const nd4c_call *call) {
  int32_t pairs = call->input_count / 2;
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0);
  for (int32_t i = 0; i < pairs; i++) {
    nd4c_ref_tensor indices = nd4c_cpu_ref_input(call, i);
    int64_t flat, value;
    ND4C_CPU_FAIL_IF(nd4c_ref_find_bad_index(&indices, y.shape[0], &flat, &value), ND4C_INDEX,
                     "dynamic_stitch: number %lld of xs[%d] is %lld, expected %lld to %lld", (long long)flat, (int)i,
                     (long long)value, (long long)-y.shape[0], (long long)(y.shape[0] - 1));
  }
  nd4c_ref_fill(&y, nd4c_cpu_zero);
  for (int32_t i = 0; i < pairs; i++) {
    nd4c_ref_slices args = {.whole = y,
                            .indices = nd4c_cpu_ref_input(call, i),
                            .part = nd4c_cpu_ref_input(call, i + pairs),
                            .to_whole = true};
    nd4c_ref_move_slices(&args);
  }
  return ND4C_OK;
}

ND4C_CPU_RANGE(segments_range, nd4c_ref_reduce_segments)

static nd4c_status reduce_segments(const nd4c_call *call, nd4c_cpu_work *work, nd4c_ref_segment_op op) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_ref_tensor segments = nd4c_cpu_ref_input(call, 1);
  int64_t count = y->shape[0], inner = count > 0 ? y->size / count : 0, largest;
  int64_t *starts = nd4c_cpu_work_make_integers(work, count + 1);
  int64_t *order = nd4c_cpu_work_make_integers(work, x->shape[0]);
  nd4c_ref_segments args = {.x = nd4c_cpu_ref_tensor(x), .y = nd4c_cpu_ref_tensor(y), .op = op};
  args.starts = starts;
  args.order = order;
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  ND4C_BACKEND_TRY(check_groups(call, count, &largest));
  if (ND4C_INT_OF(call, segment_sum_num_segments) < 0) {
    count = largest + 1;
    for (int32_t i = 0; i < y->rank; i++) {
      call->true_shapes[0][i] = i == 0 ? count : y->shape[i];
    }
  }
  nd4c_ref_group(&segments, count, starts, order);
  int64_t each = inner * (1 + x->shape[0] / (count + 1));
  return nd4c_cpu_work_parallel(work, inner > 0 ? count : 0, each, segments_range, &args);
}

/* -- tensor_scatter ------------------------------------------------------------------------------------------------ */

int64_t nd4c_cpu_write_index(const nd4c_call *call, int64_t batch) {
  const nd4c_tensor *indices = nd4c_cpu_input(call, ND4C_IN_tensor_scatter_write_indices);
  return indices == NULL ? 0 : nd4c_ref_index(indices->dtype, indices->data, batch * indices->strides[0]);
}

/* The steps of one batch in up to two runs: up to the end of the axis, and on from its beginning. */
static void write_batch(const nd4c_call *call, int32_t axis, int64_t batch) {
  const nd4c_tensor *update = &call->inputs[1], *y = &call->outputs[0];
  int64_t shape[ND4C_CPU_MAX_RANK], begin = nd4c_cpu_write_index(call, batch), steps = update->shape[axis], done = 0;
  for (int32_t i = 1; i < y->rank; i++) {
    shape[i] = update->shape[i];
  }
  shape[0] = 1;
  while (done < steps) {
    int64_t to = (begin + done) % y->shape[axis], left = y->shape[axis] - to;
    shape[axis] = steps - done < left ? steps - done : left;
    nd4c_ref_plan plan;
    nd4c_ref_plan_make(&plan, NULL, y->dtype, y->rank, shape, update->strides, y->strides);
    nd4c_ref_plan_run(
        &plan, (const char *)update->data + (batch * update->strides[0] + done * update->strides[axis]) * plan.bytes,
        (char *)y->data + (batch * y->strides[0] + to * y->strides[axis]) * plan.bytes);
    done += shape[axis];
  }
}

nd4c_status nd4c_cpu_check_write_indices(const nd4c_call *call, int32_t axis) {
  const nd4c_tensor *x = &call->inputs[0];
  bool circular = ND4C_FLAG_OF(call, tensor_scatter_circular);
  int64_t extent = x->shape[axis], last = circular ? extent - 1 : extent - call->inputs[1].shape[axis];
  for (int64_t b = 0; b < x->shape[0] && call->inputs[1].size > 0; b++) {
    int64_t index = nd4c_cpu_write_index(call, b);
    ND4C_CPU_FAIL_IF(index < 0 || index > last, ND4C_INDEX,
                     "tensor_scatter: write_indices[%lld] is %lld, expected 0 to %lld", (long long)b, (long long)index,
                     (long long)last);
  }
  return ND4C_OK;
}

static nd4c_status tensor_scatter_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, tensor_scatter_axis), x->rank);
  ND4C_BACKEND_TRY(nd4c_cpu_check_write_indices(call, axis));
  nd4c_ref_tensor from = nd4c_cpu_ref_tensor(x), y = nd4c_cpu_ref_output(call, 0);
  if (from.data != y.data) { /* in place both are the same view */
    nd4c_ref_copy(&from, &y);
  }
  for (int64_t b = 0; b < x->shape[0] && call->inputs[1].size > 0; b++) {
    write_batch(call, axis, b);
  }
  return ND4C_OK;
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define M ND4C_CPU_MOVABLE
#define OPS(X)           \
  X(matrix_band_part, M) \
  X(diag, M)             \
  X(diag_embed, M)       \
  X(matrix_set_diag, M)  \
  X(sequence_mask, M)    \
  X(one_hot, M) X(unravel_index, M) X(ravel_multi_index, M) X(dynamic_stitch, M) X(tensor_scatter, M)
/* X(op, dtypes, expression) */
#define BAND_OPS(X)                                            \
  X(tril, M, band(call, INT64_MIN, ND4C_INT_OF(call, tril_k))) \
  X(triu, M, band(call, ND4C_INT_OF(call, triu_k), INT64_MAX))
#define WORK_OPS(X)                                                      \
  X(invert_permutation, M, invert_permutation(call, work))               \
  X(dynamic_partition, M, dynamic_partition(call, work))                 \
  X(segment_sum, M, reduce_segments(call, work, ND4C_REF_SEGMENT_SUM))   \
  X(segment_mean, M, reduce_segments(call, work, ND4C_REF_SEGMENT_MEAN)) \
  X(segment_max, M, reduce_segments(call, work, ND4C_REF_SEGMENT_MAX))   \
  X(segment_min, M, reduce_segments(call, work, ND4C_REF_SEGMENT_MIN))   \
  X(segment_prod, M, reduce_segments(call, work, ND4C_REF_SEGMENT_PROD)) \
  X(segment_sqrt_n, M, reduce_segments(call, work, ND4C_REF_SEGMENT_SQRT_N))
BAND_OPS(ND4C_CPU_REFERENCE_RUN)
WORK_OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_indexing_parts_kernels[] = {
    OPS(ND4C_CPU_REFERENCE_STORED) BAND_OPS(ND4C_CPU_REFERENCE_STORED) WORK_OPS(ND4C_CPU_WORK_STORED) NULL};
