/* Padding, rolling, windows as columns and bands (arrangement.h). Engine reference calls these. */
#include "kernels/reference/indexing/arrangement.h"

#include "kernels/reference/elementwise/elementwise.h"

enum { MAX_RANK = 32 };

/* -- padding ------------------------------------------------------------------------------------------------------- */

/* The run that begins at position j of a continued axis of n elements: where it comes from, and by which steps. Returns
 * how many positions it has if the axis does not end before. */
static int64_t next_run(nd4c_ref_pad_mode mode, int64_t n, int64_t j, int64_t *from, int64_t *step) {
  int64_t period = mode == ND4C_REF_PAD_WRAP ? n : mode == ND4C_REF_PAD_SYMMETRIC ? 2 * n : 2 * (n - 1);
  bool edge = mode == ND4C_REF_PAD_EDGE || period == 0;
  if (edge && (j < 0 || j >= n)) {
    *from = j < 0 ? 0 : n - 1;
    *step = 0;
    return j < 0 ? -j : INT64_MAX;
  }
  int64_t place = edge ? j : nd4c_modulo(j, period);
  *from = place < n ? place : mode == ND4C_REF_PAD_SYMMETRIC ? 2 * n - 1 - place : period - place;
  *step = place < n ? 1 : -1;
  return place < n ? n - place : period - place;
}

/* A block of y on its way down the axes: runs of constant step in x. */
typedef struct pad_block {
  const nd4c_ref_tensor *x, *y;
  const int64_t *begin;
  nd4c_ref_pad_mode mode;
  int64_t bytes, shape[MAX_RANK], from[MAX_RANK];
} pad_block;

static void pad_axis(pad_block *block, int32_t axis, const char *x, char *y) {
  const nd4c_ref_tensor *tensor = block->x;
  if (axis == tensor->rank) {
    nd4c_ref_plan plan;
    nd4c_ref_plan_make(&plan, NULL, tensor->dtype, tensor->rank, block->shape, block->from, block->y->strides);
    nd4c_ref_plan_run(&plan, x, y);
    return;
  }
  int64_t end = block->y->shape[axis] - block->begin[axis], count;
  for (int64_t j = -block->begin[axis]; j < end; j += count) {
    int64_t first, step;
    count = next_run(block->mode, tensor->shape[axis], j, &first, &step);
    count = count < end - j ? count : end - j;
    block->shape[axis] = count;
    block->from[axis] = step * tensor->strides[axis];
    pad_axis(block, axis + 1, x + first * tensor->strides[axis] * block->bytes,
             y + (j + block->begin[axis]) * block->y->strides[axis] * block->bytes);
  }
}

void nd4c_ref_pad_continued(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, const int64_t *begin,
                            nd4c_ref_pad_mode mode) {
  pad_block block = {.x = x, .y = y, .begin = begin, .mode = mode, .bytes = nd4c_reference_bytes(x->dtype)};
  for (int32_t i = 0; i < y->rank; i++) {
    if (y->shape[i] == 0) {
      return;
    }
  }
  pad_axis(&block, 0, x->data, y->data);
}

void nd4c_ref_pad_inside(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, const int64_t *begin) {
  int64_t shape[MAX_RANK], from = 0, to = 0, first, bytes = nd4c_reference_bytes(x->dtype);
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = nd4c_valid_range(y->shape[i], 1, -begin[i], x->shape[i], &first);
    if (shape[i] == 0) {
      return;
    }
    from += (first - begin[i]) * x->strides[i];
    to += first * y->strides[i];
  }
  nd4c_ref_plan plan;
  nd4c_ref_plan_make(&plan, NULL, x->dtype, x->rank, shape, x->strides, y->strides);
  nd4c_ref_plan_run(&plan, x->data + from * bytes, y->data + to * bytes);
}

void nd4c_ref_roll_flat(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, int64_t size, int64_t shift) {
  int64_t bytes = nd4c_reference_bytes(x->dtype), number = 0;
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, x->rank, x->shape, 1, &x->strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++, number++) {
      int64_t to = nd4c_ref_offset(y, y->rank, y->shape, (number + shift) % size);
      nd4c_ref_move_one(bytes, x->data + (walk.at[0] + i * walk.step[0]) * bytes, y->data + to * bytes);
    }
  }
}

/* -- windows as columns -------------------------------------------------------------------------------------------- */

void nd4c_ref_im2col(const nd4c_ref_columns *columns, const nd4c_ref_tensor *x, const nd4c_ref_tensor *y) {
  int64_t cell[MAX_RANK] = {0}, shape[MAX_RANK], from[MAX_RANK], to[MAX_RANK], bytes = nd4c_reference_bytes(x->dtype);
  int64_t number = 0;
  shape[0] = x->shape[0];
  shape[1] = x->shape[1];
  do {
    int64_t x_offset = 0, y_offset = number++ * y->strides[1], stride = y->strides[2], first;
    from[0] = x->strides[0];
    from[1] = x->strides[1];
    to[0] = y->strides[0];
    to[1] = y->strides[1] * columns->cells;
    for (int32_t i = columns->spatial - 1; i >= 0; i--) {
      int64_t shift = cell[i] * columns->dilation[i] - columns->pad[i];
      shape[i + 2] = nd4c_valid_range(columns->windows[i], columns->stride[i], shift, x->shape[i + 2], &first);
      from[i + 2] = x->strides[i + 2] * columns->stride[i];
      to[i + 2] = stride;
      x_offset += (first * columns->stride[i] + shift) * x->strides[i + 2];
      y_offset += first * stride;
      stride *= columns->windows[i];
    }
    nd4c_ref_plan plan;
    nd4c_ref_plan_make(&plan, NULL, x->dtype, columns->spatial + 2, shape, from, to);
    if (plan.size > 0) {
      nd4c_ref_plan_run(&plan, x->data + x_offset * bytes, y->data + y_offset * bytes);
    }
  } while (nd4c_index_next(columns->spatial, columns->kernel, cell));
}

/* Number of the window that has the element at `position` as its given cell; -1: none has. */
static int64_t window_of(const nd4c_ref_columns *columns, const int64_t *position, const int64_t *cell) {
  int64_t window = 0;
  for (int32_t i = 0; i < columns->spatial; i++) {
    int64_t begin = position[i] + columns->pad[i] - cell[i] * columns->dilation[i];
    if (begin < 0 || begin % columns->stride[i] != 0 || begin / columns->stride[i] >= columns->windows[i]) {
      return -1;
    }
    window = window * columns->windows[i] + begin / columns->stride[i];
  }
  return window;
}

void nd4c_ref_col2im(const nd4c_ref_col2im_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_columns *columns = &args->columns;
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  nd4c_dtype_kind kinds[2] = {nd4c_reference_kind(x->dtype), nd4c_reference_kind(x->dtype)};
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t position[MAX_RANK], cell[MAX_RANK] = {0}, rest = flat, number = 0, offset = 0;
    nd4c_value sums[2];
    memset(sums, 0, sizeof sums);
    for (int32_t axis = y->rank - 1; axis >= 0; axis--) {
      position[axis] = rest % y->shape[axis];
      rest /= y->shape[axis];
      offset += position[axis] * y->strides[axis];
    }
    do {
      int64_t window = window_of(columns, position + 2, cell);
      if (window >= 0) {
        int64_t from = position[0] * x->strides[0] + (position[1] * columns->cells + number) * x->strides[1] +
                       window * x->strides[2];
        sums[1] = nd4c_value_load(x->dtype, x->data, from);
        sums[0] = nd4c_value_add(kinds, sums);
      }
      number++;
    } while (nd4c_index_next(columns->spatial, columns->kernel, cell));
    nd4c_value_store(y->dtype, y->data, offset, sums[0]);
  }
}

/* -- triangles ----------------------------------------------------------------------------------------------------- */

/* Columns [begin, end) of one row. */
static void zero_columns(const nd4c_ref_tensor *y, int64_t at, int64_t begin, int64_t end, int64_t step) {
  static const char zero[16];
  static const int64_t same;
  nd4c_ref_plan plan;
  int64_t count = end - begin;
  if (count > 0) {
    nd4c_ref_plan_make(&plan, NULL, y->dtype, 1, &count, &same, &step);
    nd4c_ref_plan_run(&plan, zero, y->data + (at + begin * step) * plan.bytes);
  }
}

static int64_t between(int64_t low, int64_t value, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

void nd4c_ref_band(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, int64_t lower, int64_t upper) {
  const int64_t *strides[2] = {x->strides, y->strides};
  int64_t row_of_walk = 0, rows = x->shape[x->rank - 2], columns = x->shape[x->rank - 1];
  nd4c_ref_plan plan;
  nd4c_ref_walk walk;
  /* Bounds far outside are the same as those just outside, and cannot overflow. */
  lower = between(-rows - columns, lower, rows + columns);
  upper = between(-rows - columns, upper, rows + columns);
  for (bool more = nd4c_ref_walk_start(&walk, x->rank, x->shape, 2, strides); more; more = nd4c_ref_walk_next(&walk)) {
    int64_t row = row_of_walk++ % rows;
    int64_t begin = between(0, row + lower, columns), end = between(begin, row + upper + 1, columns);
    int64_t count = end - begin;
    nd4c_ref_plan_make(&plan, NULL, x->dtype, 1, &count, &walk.step[0], &walk.step[1]);
    nd4c_ref_plan_run(&plan, x->data + (walk.at[0] + begin * walk.step[0]) * plan.bytes,
                      y->data + (walk.at[1] + begin * walk.step[1]) * plan.bytes);
    zero_columns(y, walk.at[1], 0, begin, walk.step[1]);
    zero_columns(y, walk.at[1], end, columns, walk.step[1]);
  }
}
