/* Ops that only move elements. compute.c lists these functions. */
#include "stub.h"

nd4c_status stub_compute_same_order(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  for (int64_t i = 0; i < work->output.size; i++) {
    output[i] = inputs[0][i];
  }
  return ND4C_OK;
}

/* Position of output element `number` on each axis. */
static void index_of(const stub_operand *operand, int64_t number, int64_t *index) {
  for (int32_t axis = operand->rank - 1; axis >= 0; axis--) {
    index[axis] = number % operand->shape[axis];
    number /= operand->shape[axis];
  }
}

static int64_t number_of(const stub_operand *operand, const int64_t *index) {
  int64_t number = 0;
  for (int32_t axis = 0; axis < operand->rank; axis++) {
    number = number * operand->shape[axis] + index[axis];
  }
  return number;
}

nd4c_status stub_compute_transpose(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  const nd4c_attr_value *axes = &work->attrs[ND4C_ATTR_transpose_axes];
  int32_t rank = work->output.rank;
  for (int64_t i = 0; i < work->output.size; i++) {
    int64_t to[STUB_RANK], from[STUB_RANK] = {0};
    index_of(&work->output, i, to);
    for (int32_t axis = 0; axis < rank; axis++) {
      from[axes->count == 0 ? rank - 1 - axis : stub_axis(axes->as.ints[axis], rank)] = to[axis];
    }
    output[i] = inputs[0][number_of(&work->inputs[0], from)];
  }
  return ND4C_OK;
}

nd4c_status stub_compute_broadcast(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  int64_t *numbers = stub_host->allocate((size_t)(work->output.size + 1) * sizeof *numbers);
  if (numbers == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for %s", work->name);
  }
  stub_broadcast(&work->inputs[0], &work->output, numbers);
  for (int64_t i = 0; i < work->output.size; i++) {
    output[i] = inputs[0][numbers[i]];
  }
  stub_host->free(numbers);
  return ND4C_OK;
}

nd4c_status stub_compute_slice(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  const stub_operand *x = &work->inputs[0];
  const nd4c_attr_value *starts = &work->attrs[ND4C_ATTR_slice_starts];
  const nd4c_attr_value *axes = &work->attrs[ND4C_ATTR_slice_axes];
  const nd4c_attr_value *steps = &work->attrs[ND4C_ATTR_slice_steps];
  int64_t first[STUB_RANK] = {0}, step[STUB_RANK];
  for (int32_t axis = 0; axis < x->rank; axis++) {
    step[axis] = 1;
  }
  for (int32_t i = 0; i < starts->count; i++) {
    int64_t axis = axes->count == 0 ? i : stub_axis(axes->as.ints[i], x->rank);
    int64_t extent = x->shape[axis];
    step[axis] = steps->count == 0 ? 1 : steps->as.ints[i];
    int64_t start = starts->as.ints[i];
    if (start == INT64_MIN) { /* Python's None */
      start = step[axis] > 0 ? 0 : extent - 1;
    } else if (start < 0) {
      start = start + extent < 0 ? (step[axis] > 0 ? 0 : -1) : start + extent;
    } else if (start >= extent) {
      start = step[axis] > 0 ? extent : extent - 1;
    }
    first[axis] = start;
  }
  for (int64_t i = 0; i < work->output.size; i++) {
    int64_t index[STUB_RANK];
    index_of(&work->output, i, index);
    for (int32_t axis = 0; axis < x->rank; axis++) {
      index[axis] = first[axis] + index[axis] * step[axis];
    }
    output[i] = inputs[0][number_of(x, index)];
  }
  return ND4C_OK;
}

nd4c_status stub_compute_concat(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  int64_t axis = stub_axis(work->attrs[ND4C_ATTR_concat_axis].as.i, work->output.rank);
  int64_t before = 0;
  for (int32_t n = 0; n < work->input_count; n++) {
    const stub_operand *x = &work->inputs[n];
    for (int64_t i = 0; i < x->size; i++) {
      int64_t index[STUB_RANK];
      index_of(x, i, index);
      index[axis] += before;
      output[number_of(&work->output, index)] = stub_convert(inputs[n][i], x->dtype, work->output.dtype);
    }
    before += x->shape[axis];
  }
  return ND4C_OK;
}

nd4c_status stub_compute_gather(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  const stub_operand *x = &work->inputs[0], *indices = &work->inputs[1];
  int64_t axis = stub_axis(work->attrs[ND4C_ATTR_gather_axis].as.i, x->rank);
  for (int64_t i = 0; i < work->output.size; i++) {
    int64_t to[STUB_RANK], from[STUB_RANK];
    index_of(&work->output, i, to);
    int64_t picked = inputs[1][number_of(indices, to + axis)].i;
    int64_t place = stub_axis(picked, (int32_t)x->shape[axis]);
    if (place < 0 || place >= x->shape[axis]) {
      return stub_host->fail(ND4C_INDEX, "gather: index %lld is out of range for axis %lld of length %lld",
                             (long long)picked, (long long)axis, (long long)x->shape[axis]);
    }
    for (int32_t k = 0; k < x->rank; k++) {
      from[k] = k < axis ? to[k] : k == axis ? place : to[k + indices->rank - 1];
    }
    output[i] = inputs[0][number_of(x, from)];
  }
  return ND4C_OK;
}
