/* How operands lie along the elements of a chain, and copies of those that are not read or written in place. run.c
 * calls it. */
#include "backends/cpu/tile/tile.h"

/* The axes of the first output, from the slowest to the fastest, without those of one element. */
typedef struct axes {
  int32_t count;
  int32_t axis[ND4C_CPU_MAX_RANK];
} axes;

static void find_axes(const nd4c_tensor *y, axes *found) {
  found->count = 0;
  for (int32_t axis = 0; axis < y->rank; axis++) {
    if (y->shape[axis] == 1) {
      continue;
    }
    int32_t place = found->count++;
    for (; place > 0 && y->strides[found->axis[place - 1]] < y->strides[axis]; place--) {
      found->axis[place] = found->axis[place - 1];
    }
    found->axis[place] = axis;
  }
}

static void lay_out(const nd4c_tensor *x, const nd4c_tensor *y, const axes *order, nd4c_tile_operand *operand) {
  int64_t strides[ND4C_CPU_MAX_RANK];
  bool repeated = true;
  nd4c_cpu_broadcast_strides(x, y, strides);
  operand->rank = 0;
  for (int32_t i = 0; i < order->count; i++) {
    const int64_t extent = y->shape[order->axis[i]], stride = strides[order->axis[i]];
    int32_t last = operand->rank - 1;
    repeated = repeated && stride == 0;
    if (last >= 0 && operand->strides[last] == stride * extent) { /* one axis with the one before */
      operand->shape[last] *= extent;
      operand->strides[last] = stride;
      continue;
    }
    operand->shape[operand->rank] = extent;
    operand->strides[operand->rank] = stride;
    operand->rank++;
  }
  operand->lie = operand->rank == 0 || (operand->rank == 1 && operand->strides[0] == 1) ? ND4C_TILE_FLAT
                 : repeated                                                             ? ND4C_TILE_REPEATED
                                                                                        : ND4C_TILE_WALK;
}

/* A tensor in C order. The arrays are its shape and strides. */
static nd4c_tensor in_c_order(int32_t rank, const int64_t *extents, int64_t *shape, int64_t *strides) {
  nd4c_tensor y = {.rank = rank, .shape = shape, .strides = strides, .size = 1, .flags = ND4C_TENSOR_CONTIGUOUS};
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    shape[axis] = extents[axis];
    strides[axis] = y.size;
    y.size *= extents[axis];
  }
  return y;
}

/* The result of a tail, along its own elements. */
static void lay_out_total(const nd4c_tensor *x, nd4c_tile_operand *operand) {
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
  const nd4c_tensor y = in_c_order(x->rank, x->shape, shape, strides);
  axes order;
  operand->bytes = nd4c_cpu_dtype_bytes(x->dtype);
  operand->data = x->data;
  find_axes(&y, &order);
  lay_out(x, &y, &order, operand);
}

void nd4c_tile_lay_out(const nd4c_tile_program *program, const nd4c_execution *execution, nd4c_tile_operand *operands) {
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
  nd4c_tensor whole = {.rank = 0};
  if (program->run != 0) {
    whole = in_c_order(program->rank, program->shape, shape, strides);
  }
  const nd4c_tensor *y = program->run != 0 ? &whole : &execution->outputs[0];
  const int32_t inputs = execution->input_count, count = inputs + execution->output_count;
  axes order = {.count = -1}; /* not found yet */
  bool in_order = true;
  for (int32_t i = 0; i < execution->output_count; i++) {
    in_order = in_order && (execution->outputs[i].flags & ND4C_TENSOR_CONTIGUOUS) != 0;
  }
  for (int32_t i = 0; i < count; i++) {
    const nd4c_tensor *x = i < inputs ? &execution->inputs[i] : &execution->outputs[i - inputs];
    nd4c_tile_operand *operand = &operands[i];
    if (program->ports[i].is_total) {
      lay_out_total(x, operand);
      continue;
    }
    operand->bytes = nd4c_cpu_dtype_bytes(x->dtype);
    operand->data = x->data;
    const bool flat = in_order && x->size == y->size && (x->flags & ND4C_TENSOR_CONTIGUOUS) != 0;
    if (flat || y->size <= 1) {
      operand->lie = ND4C_TILE_FLAT;
    } else if (x->size == 1) {
      operand->lie = ND4C_TILE_REPEATED;
    } else {
      if (order.count < 0) {
        find_axes(y, &order);
      }
      lay_out(x, y, &order, operand);
    }
  }
}

/* -- copies -------------------------------------------------------------------------------------------------------- */

/* Moves `rows` runs of `columns` elements between the operand at `at` and a register. */
static void move(const nd4c_tile_operand *operand, int64_t rows, int64_t columns, char *at, char *reg, bool gathers) {
  const int32_t last = operand->rank - 1;
  const int64_t row = last > 0 ? operand->strides[last - 1] : 0, column = operand->strides[last];
  nd4c_move_function function = nd4c_simd.move->move[operand->bytes];
  if (gathers) {
    function(rows, columns, at, row, column, reg, columns, 1);
  } else {
    function(rows, columns, reg, columns, 1, at, row, column);
  }
}

/* In blocks: whole rows of the last two axes at once, and the parts of rows before and after them. */
static void copy(const nd4c_tile_operand *operand, int64_t begin, int64_t count, char *reg, bool gathers) {
  const int32_t last = operand->rank - 1;
  const int64_t columns = operand->shape[last], rows = last > 0 ? operand->shape[last - 1] : 1;
  while (count > 0) {
    int64_t column = begin % columns, rest = begin / columns, row = rest % rows;
    char *at = operand->data + column * operand->strides[last] * operand->bytes;
    for (int32_t axis = last - 1; axis >= 0; axis--) {
      at += rest % operand->shape[axis] * operand->strides[axis] * operand->bytes;
      rest /= operand->shape[axis];
    }
    int64_t whole = column == 0 ? count / columns : 0, moved = 0;
    whole = whole < rows - row ? whole : rows - row;
    if (whole > 0) {
      move(operand, whole, columns, at, reg, gathers);
      moved = whole * columns;
    } else {
      moved = columns - column < count ? columns - column : count;
      move(operand, 1, moved, at, reg, gathers);
    }
    begin += moved;
    count -= moved;
    reg += moved * operand->bytes;
  }
}

void nd4c_tile_gather(const nd4c_tile_operand *operand, int64_t begin, int64_t count, char *to) {
  copy(operand, begin, count, to, true);
}

void nd4c_tile_scatter(const nd4c_tile_operand *operand, int64_t begin, int64_t count, char *from) {
  copy(operand, begin, count, from, false);
}
