/* Triangles and diagonals, one-hot and masks from indices, numbers of elements, partitions and segments.
 * dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <math.h>
#include <string.h>

#include "backends/opencl/support/ordering.h"

/* -- triangles and diagonals --------------------------------------------------------------------------------------- */

static int64_t between(int64_t low, int64_t value, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* y = x where lower <= column - row <= upper, zero elsewhere. */
static nd4c_status band(const nd4c_cl_step *step, int64_t lower, int64_t upper) {
  const nd4c_tensor *x = &step->call->inputs[0], *y = &step->call->outputs[0];
  int64_t distance[ND4C_CL_MAX_RANK] = {0};
  const int64_t *strides[3] = {x->strides, y->strides, distance};
  nd4c_cl_walk walk;
  distance[x->rank - 1] = 1;
  distance[x->rank - 2] = -1;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, y->rank, y->shape, 3, strides));
  return ND4C_CL_STEP_UNITS(step, "places+move", "band", y->dtype, walk.size, ND4C_CL_IN(x), ND4C_CL_OUT(y),
                            ND4C_CL_LONG(lower, upper), ND4C_CL_VALUE(walk));
}

static nd4c_status matrix_band_part(const nd4c_cl_step *step) {
  int64_t lower = ND4C_INT_OF(step->call, matrix_band_part_lower);
  int64_t upper = ND4C_INT_OF(step->call, matrix_band_part_upper);
  return band(step, lower < 0 ? INT64_MIN : -lower, upper < 0 ? INT64_MAX : upper);
}

/* Diagonal k of the axes a and b of a tensor, as the last axis of a view, which begins `shift` elements behind the
 * tensor. */
typedef struct diagonal {
  int32_t rank;
  int64_t shape[ND4C_CL_MAX_RANK], strides[ND4C_CL_MAX_RANK], shift;
} diagonal;

static diagonal diagonal_of(const nd4c_tensor *x, int32_t a, int32_t b, int64_t k) {
  int64_t row = between(0, k < 0 && k > INT64_MIN ? -k : k < 0 ? INT64_MAX : 0, x->shape[a]);
  int64_t column = between(0, k, x->shape[b]), down = x->shape[a] - row, right = x->shape[b] - column;
  diagonal d = {.shift = row * x->strides[a] + column * x->strides[b]};
  for (int32_t i = 0; i < x->rank; i++) {
    if (i != a && i != b) {
      d.shape[d.rank] = x->shape[i];
      d.strides[d.rank++] = x->strides[i];
    }
  }
  d.shape[d.rank] = down < right ? down : right;
  d.strides[d.rank++] = x->strides[a] + x->strides[b];
  return d;
}

static nd4c_status embed(const nd4c_cl_step *step, int32_t a, int32_t b, int64_t k) {
  const nd4c_tensor *x = &step->call->inputs[0], *y = &step->call->outputs[0];
  diagonal d = diagonal_of(y, a, b, k);
  ND4C_BACKEND_TRY(nd4c_cl_zero(step, y));
  return nd4c_cl_move(step, d.rank, d.shape, x, 0, x->strides, y, d.shift, d.strides);
}

static nd4c_status diag(const nd4c_cl_step *step) {
  const nd4c_tensor *x = &step->call->inputs[0], *y = &step->call->outputs[0];
  int64_t k = ND4C_INT_OF(step->call, diag_k);
  if (x->rank == 1) {
    return embed(step, 0, 1, k);
  }
  diagonal d = diagonal_of(x, 0, 1, k);
  return nd4c_cl_move(step, 1, y->shape, x, d.shift, d.strides, y, 0, y->strides);
}

static nd4c_status diag_embed(const nd4c_cl_step *step) {
  const nd4c_attr_value *attrs = step->call->attrs;
  int32_t rank = step->call->outputs[0].rank;
  return embed(step, nd4c_axis(attrs[ND4C_ATTR_diag_embed_axis1].as.i, rank),
               nd4c_axis(attrs[ND4C_ATTR_diag_embed_axis2].as.i, rank), attrs[ND4C_ATTR_diag_embed_offset].as.i);
}

static nd4c_status matrix_set_diag(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  int64_t strides[ND4C_CL_MAX_RANK];
  diagonal d = diagonal_of(y, y->rank - 2, y->rank - 1, ND4C_INT_OF(call, matrix_set_diag_k));
  nd4c_cl_broadcast_strides(&call->inputs[1], d.rank, d.shape, strides);
  ND4C_BACKEND_TRY(nd4c_cl_copy(step, &call->inputs[0], y));
  return nd4c_cl_move(step, d.rank, d.shape, &call->inputs[1], 0, strides, y, d.shift, d.strides);
}

/* -- from indices -------------------------------------------------------------------------------------------------- */

/* The bits of the number 1. */
static bool bits_of_one(nd4c_dtype dtype, uint64_t bits[2]) {
  static const uint32_t one_float = 0x3f800000;
  bool is_narrow = (ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(dtype)) != 0;
  bits[1] = 0;
  bits[0] = dtype == ND4C_FLOAT16                               ? 0x3c00
            : dtype == ND4C_BFLOAT16                            ? 0x3f80
            : dtype == ND4C_FLOAT32 || dtype == ND4C_COMPLEX64  ? one_float
            : dtype == ND4C_FLOAT64 || dtype == ND4C_COMPLEX128 ? UINT64_C(0x3ff0000000000000)
                                                                : 1;
  return !is_narrow;
}

/* y = 1 (or values[1]) where the position on `axis` equals the index, or with `before` is less; 0 (or values[0])
 * elsewhere. index_strides: of the indices, for y's axes. */
static nd4c_status mark(const nd4c_cl_step *step, int32_t axis, const int64_t *index_strides, const nd4c_tensor *values,
                        bool before) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *indices = &call->inputs[0], *y = &call->outputs[0];
  int64_t place[ND4C_CL_MAX_RANK] = {0};
  const int64_t *strides[3] = {index_strides, y->strides, place};
  uint64_t off[2] = {0, 0}, on[2];
  nd4c_cl_walk walk;
  size_t bytes = (size_t)nd4c_cl_element_bytes(y->dtype);
  if (!bits_of_one(y->dtype, on) && values == NULL) {
    return nd4c_cl_step_refuse(step, "the numbers 0 and 1 of dtypes of less than 16 bits come from the CPU");
  }
  place[axis] = 1;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, y->rank, y->shape, 3, strides));
  return ND4C_CL_STEP_UNITS(step, "places+move", "one_hot", y->dtype, walk.size, ND4C_CL_IN(indices),
                            ND4C_CL_INT(indices->dtype == ND4C_INT64), ND4C_CL_OUT(y), ND4C_CL_IN(values),
                            ND4C_CL_LONG(values != NULL ? values->strides[0] : 0), ND4C_CL_INT(values != NULL),
                            ND4C_CL_BYTES(off, bytes),
                            /* little-endian: the first bytes hold the number */ ND4C_CL_BYTES(on, bytes),
                            ND4C_CL_LONG(y->shape[axis]), ND4C_CL_INT(before), ND4C_CL_VALUE(walk));
}

static nd4c_status sequence_mask(const nd4c_cl_step *step) {
  const nd4c_tensor *lengths = &step->call->inputs[0], *y = &step->call->outputs[0];
  int64_t strides[ND4C_CL_MAX_RANK] = {0};
  memcpy(strides, lengths->strides, (size_t)lengths->rank * sizeof *strides);
  return mark(step, y->rank - 1, strides, NULL, true);
}

static nd4c_status one_hot(const nd4c_cl_step *step) {
  const nd4c_tensor *indices = &step->call->inputs[0], *y = &step->call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(step->call, one_hot_axis), y->rank);
  int64_t strides[ND4C_CL_MAX_RANK] = {0};
  for (int32_t i = 0; i < indices->rank; i++) {
    strides[i < axis ? i : i + 1] = indices->strides[i];
  }
  return mark(step, axis, strides, nd4c_cl_input(step->call, ND4C_IN_one_hot_values), false);
}

static int64_t invert_scratch(const nd4c_call *call) {
  return (call->inputs[0].size + 1) * (int64_t)sizeof(int32_t);
}

/* Writes the inverse into a table first, where a number that occurs twice is detected. */
static nd4c_status invert_permutation(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int32_t none = -1;
  if (nd4c_cl_is_dry(step) || x->size == 0) {
    return nd4c_cl_is_dry(step) ? nd4c_cl_sorting_check(step, x->size, invert_scratch(call)) : ND4C_OK;
  }
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, 0, x->size * (int64_t)sizeof none, &none, sizeof none));
  ND4C_BACKEND_TRY(ND4C_CL_RUN_UNITS(call, "places+numbers", "find_inverse_places", ND4C_DTYPE_NONE, x->size,
                                     ND4C_CL_IN(x), ND4C_CL_LONG(x->strides[0]), ND4C_CL_INT(x->dtype == ND4C_INT64),
                                     ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_FAULT));
  return ND4C_CL_RUN_UNITS(call, "places+numbers", "write_table", ND4C_DTYPE_NONE, x->size, ND4C_CL_SCRATCH(READ),
                           ND4C_CL_OUT(y), ND4C_CL_LONG(y->strides[0]), ND4C_CL_INT(y->dtype == ND4C_INT64));
}

/* The same struct as nd4c_extents of numbers.cl. */
typedef struct extents {
  int64_t count, extent[ND4C_CL_MAX_RANK];
} extents;

/* Converts between element numbers and indices, one row for each axis; `row` is the stride between rows. */
static nd4c_status renumber(const nd4c_cl_step *step, const char *function, const nd4c_attr_value *shape,
                            const nd4c_tensor *places, int64_t row, const int64_t *index_strides,
                            const int64_t *y_strides) {
  const nd4c_call *call = step->call;
  const int64_t *strides[2] = {index_strides, y_strides};
  extents e = {.count = shape->count};
  nd4c_cl_walk walk;
  if (shape->count > ND4C_CL_MAX_RANK) { /* the shape is an attribute, so its rank is not limited by a tensor */
    return nd4c_cl_step_refuse(step, "shape has %d axes, the kernel takes %d", (int)shape->count,
                               (int)ND4C_CL_MAX_RANK);
  }
  memcpy(e.extent, shape->as.ints, (size_t)shape->count * sizeof *e.extent);
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, places->rank, places->shape, 2, strides));
  return ND4C_CL_STEP_UNITS(step, "places+numbers", function, ND4C_DTYPE_NONE, walk.size, ND4C_CL_IN(&call->inputs[0]),
                            ND4C_CL_INT(call->inputs[0].dtype == ND4C_INT64), ND4C_CL_OUT(&call->outputs[0]),
                            ND4C_CL_LONG(row), ND4C_CL_VALUE(walk), ND4C_CL_VALUE(e), ND4C_CL_FAULT);
}

static nd4c_status unravel_index(const nd4c_cl_step *step) {
  const nd4c_tensor *indices = &step->call->inputs[0], *y = &step->call->outputs[0];
  return renumber(step, "unravel", &step->call->attrs[ND4C_ATTR_unravel_index_shape], indices, y->strides[0],
                  indices->strides, y->strides + 1);
}

static nd4c_status ravel_multi_index(const nd4c_cl_step *step) {
  const nd4c_tensor *indices = &step->call->inputs[0], *y = &step->call->outputs[0];
  return renumber(step, "ravel", &step->call->attrs[ND4C_ATTR_ravel_multi_index_shape], y, indices->strides[0],
                  indices->strides + 1, y->strides);
}

/* -- partitions and segments --------------------------------------------------------------------------------------- */

enum { FAULT_WORDS = 3 }; /* words of scratch before the lists, for the five 32-bit numbers of a fault */

static int64_t group_scratch(const nd4c_call *call) {
  nd4c_cl_sorting sorting;
  return nd4c_cl_sorting_make(&sorting, FAULT_WORDS, 1, call->inputs[1].size) * ND4C_CL_WORD;
}

/* Sorts the rows by the number of their group (input 1). at_once: a fault is written to the
 * beginning of scratch, for a call that waits. */
static nd4c_status group(const nd4c_cl_step *step, int64_t count, bool at_once, nd4c_cl_sorting *sorting) {
  const nd4c_tensor *groups = &step->call->inputs[1];
  const nd4c_cl_target target = {
      .count = 1, .mode = ND4C_CL_GROUP, .wide = groups->dtype == ND4C_INT64, .extent = {count}, .stride = {1}};
  int64_t none[ND4C_CL_MAX_RANK] = {0};
  const int64_t *strides[2] = {none, groups->strides};
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, groups->rank, groups->shape, 2, strides));
  int64_t words = nd4c_cl_sorting_make(sorting, FAULT_WORDS, 1, groups->size);
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_sorting_check(step, groups->size, words * ND4C_CL_WORD);
  }
  if (at_once) {
    const int32_t fine = 0;
    ND4C_BACKEND_TRY(
        nd4c_cl_fill(step->call, step->call->scratch_buffer, 0, FAULT_WORDS * ND4C_CL_WORD, &fine, sizeof fine));
  }
  ND4C_BACKEND_TRY(nd4c_cl_place_keys(step->call, groups, &walk, &target, sorting, at_once));
  return nd4c_cl_sort(step->call, sorting);
}

static nd4c_status count_groups(const nd4c_call *call, const nd4c_cl_sorting *sorting, const nd4c_tensor *counts) {
  return ND4C_CL_RUN_ORDER(call, "count_groups", counts->shape[0], ND4C_CL_LONG(sorting->keys, sorting->length),
                           ND4C_CL_OUT(counts), ND4C_CL_LONG(counts->strides[0]));
}

static nd4c_status dynamic_partition(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0], *counts = &call->outputs[1];
  int32_t covered = call->inputs[1].rank;
  int64_t from[ND4C_CL_MAX_RANK] = {0}, number[ND4C_CL_MAX_RANK] = {1};
  const int64_t *strides[3] = {from, y->strides, number};
  nd4c_cl_walk walk, places;
  nd4c_cl_sorting sorting;
  for (int32_t i = 1; i < y->rank; i++) {
    from[i] = x->strides[covered + i - 1];
  }
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, y->rank, y->shape, 3, strides));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &places, covered, x->shape, 1, &x->strides));
  ND4C_BACKEND_TRY(group(step, counts->shape[0], false, &sorting));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(count_groups(call, &sorting, counts));
  return nd4c_cl_move_chosen(call, x, y, sorting.order, &walk, &places, false, walk.size);
}

typedef enum segment_op { SUM, MEAN, MAX, MIN, PROD, SQRT_N } segment_op;

/* Options of a kernel of sums.cl, which adds up in the widest type of the dtype's kind. */
static nd4c_cl_options sums_options(const nd4c_call *call, nd4c_dtype dtype, const char *join) {
  const char *kind = nd4c_cl_kind(dtype), *wide = nd4c_cl_wide(call) ? "double" : "float";
  nd4c_cl_options options = {""};
  nd4c_cl_define_index(&options, call);
  nd4c_cl_define_type(&options, 'A', dtype);
  nd4c_cl_define(&options, "KIND", "%s", kind);
  nd4c_cl_define(&options, "ACC", "%s", kind[0] == 'F' ? wide : kind[0] == 'I' ? "long" : "ulong");
  nd4c_cl_define(&options, "FRACTION", "%s", wide);
  nd4c_cl_define(&options, "JOIN", "%s", join);
  const bool adds = strcmp(join, "ADD") == 0;
  if (kind[0] == 'F' && !nd4c_cl_wide(call) && (adds || strcmp(join, "MULTIPLY") == 0)) {
    nd4c_cl_define(&options, "COMPENSATED", adds ? "add_compensated" : "multiply_compensated");
  }
  return options;
}

/* Writes the result for no elements in the kernel's type ACC; returns the size of ACC. */
static size_t identity_of(const nd4c_call *call, segment_op op, nd4c_dtype dtype, void *bytes) {
  const char kind = nd4c_cl_kind(dtype)[0];
  const int64_t bits = 8 * nd4c_cl_element_bytes(dtype), highest = INT64_MAX >> (64 - bits);
  const double number = op == MAX ? -INFINITY : op == MIN ? INFINITY : op == PROD;
  const int64_t with_sign = op == MAX ? -highest - 1 : op == MIN ? highest : op == PROD;
  const int64_t whole = kind == 'I' ? with_sign : op == MIN ? -1 : op == PROD;
  const float narrow = (float)number;
  bool real = kind == 'F', wide = !real || nd4c_cl_wide(call);
  memcpy(bytes, !real ? (const void *)&whole : wide ? (const void *)&number : (const void *)&narrow, wide ? 8 : 4);
  return wide ? 8 : 4;
}

static nd4c_status read_word(const nd4c_call *call, int64_t word, uint64_t *value) {
  return nd4c_cl_read_back(call, call->scratch_buffer, word * ND4C_CL_WORD, value, (int64_t)sizeof *value);
}

/* Fails with the first number that is out of range. The sort has put all of those at the end, in their order. */
static nd4c_status fail_at_first(const nd4c_call *call, const nd4c_cl_sorting *sorting, int64_t count) {
  const nd4c_tensor *groups = &call->inputs[1];
  int64_t low = 0, high = sorting->length - 1, bytes = nd4c_cl_element_bytes(groups->dtype), wide = 0;
  int32_t narrow = 0;
  uint32_t place = 0;
  while (low < high) {
    uint64_t key = 0;
    int64_t middle = low + (high - low) / 2;
    ND4C_BACKEND_TRY(read_word(call, sorting->keys + middle, &key));
    low = key == ND4C_CL_NO_PLACE ? low : middle + 1;
    high = key == ND4C_CL_NO_PLACE ? middle : high;
  }
  ND4C_BACKEND_TRY(nd4c_cl_read_back(call, call->scratch_buffer,
                                     sorting->order * ND4C_CL_WORD + low * (int64_t)sizeof place, &place,
                                     (int64_t)sizeof place));
  ND4C_BACKEND_TRY(nd4c_cl_read_back(call, groups->buffer, (groups->offset + place * groups->strides[0]) * bytes,
                                     bytes == 8 ? (void *)&wide : (void *)&narrow, bytes));
  return nd4c_cl_host->fail(ND4C_INDEX, "%s: number %lld of %s is %lld, expected 0 to %lld", call->op->name,
                            (long long)place, call->op->inputs[1].name, (long long)(bytes == 8 ? wide : narrow),
                            (long long)(count - 1));
}

/* The number of groups: one more than the largest number. */
static nd4c_status count_segments(const nd4c_call *call, const nd4c_cl_sorting *sorting, int64_t *count) {
  uint64_t largest = nd4c_cl_place_key(-1); /* if there are no rows */
  if (sorting->length > 0) {
    ND4C_BACKEND_TRY(read_word(call, sorting->keys + sorting->length - 1, &largest));
  }
  if (largest == ND4C_CL_NO_PLACE) {
    return fail_at_first(call, sorting, *count);
  }
  *count = (int64_t)nd4c_cl_place_key((int64_t)largest) + 1;
  return ND4C_OK;
}

static nd4c_status reduce_segments(const nd4c_cl_step *step, segment_op op) {
  static const char *const joins[] = {"ADD", "ADD", "MAXIMUM", "MINIMUM", "MULTIPLY", "ADD"};
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int64_t *strides[2] = {x->strides + 1, y->strides + 1};
  int64_t count = y->shape[0];
  bool counts_groups = ND4C_INT_OF(call, segment_sum_num_segments) < 0;
  nd4c_cl_walk inner;
  nd4c_cl_sorting sorting;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &inner, x->rank - 1, x->shape + 1, 2, strides));
  ND4C_BACKEND_TRY(group(step, count, counts_groups, &sorting));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_dtype(step, x->dtype);
  }
  if (counts_groups) {
    ND4C_BACKEND_TRY(count_segments(call, &sorting, &count));
    memcpy(call->true_shapes[0], y->shape, (size_t)y->rank * sizeof *y->shape);
    call->true_shapes[0][0] = count;
  }
  unsigned char identity[8];
  size_t bytes = identity_of(call, op, x->dtype, identity);
  return ND4C_CL_RUN_ITEMS(call, "places+sums", "join_groups", sums_options(call, x->dtype, joins[op]),
                           count * inner.size, ND4C_CL_SCRATCH(READ),
                           ND4C_CL_LONG(sorting.keys, sorting.order, sorting.length), ND4C_CL_IN(x),
                           ND4C_CL_LONG(x->strides[0]), ND4C_CL_OUT(y), ND4C_CL_LONG(y->strides[0]),
                           ND4C_CL_VALUE(inner), ND4C_CL_BYTES(identity, bytes),
                           ND4C_CL_INT(op == MEAN     ? 1
                                       : op == SQRT_N ? 2
                                                      : 0));
}

static nd4c_status col2im(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_cl_columns columns;
  ND4C_BACKEND_TRY(nd4c_cl_columns_make(step, &call->attrs[ND4C_ATTR_col2im_kernel], y, x, &columns));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_dtype(step, x->dtype);
  }
  return ND4C_CL_RUN_ITEMS(call, "places+sums", "col2im", sums_options(call, x->dtype, "ADD"), y->size, ND4C_CL_IN(x),
                           ND4C_CL_OUT(y), ND4C_CL_VALUE(columns));
}

/* -- tensor_scatter ------------------------------------------------------------------------------------------------ */

static nd4c_status tensor_scatter(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *update = &call->inputs[1], *indices = nd4c_cl_input(call, ND4C_IN_tensor_scatter_write_indices);
  const nd4c_tensor *y = &call->outputs[0];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, tensor_scatter_axis), y->rank);
  bool circular = ND4C_FLAG_OF(call, tensor_scatter_circular);
  int64_t to[ND4C_CL_MAX_RANK], index[ND4C_CL_MAX_RANK] = {0}, place[ND4C_CL_MAX_RANK] = {0};
  const int64_t *strides[4] = {update->strides, to, index, place};
  nd4c_cl_walk walk;
  for (int32_t i = 0; i < y->rank; i++) {
    to[i] = i == axis ? 0 : y->strides[i];
  }
  index[0] = indices != NULL ? indices->strides[0] : 0;
  place[axis] = 1;
  ND4C_BACKEND_TRY(nd4c_cl_copy(step, &call->inputs[0], y));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, update->rank, update->shape, 4, strides));
  return ND4C_CL_STEP_UNITS(step, "places+move", "write_steps", y->dtype, walk.size, ND4C_CL_IN(update), ND4C_CL_OUT(y),
                            ND4C_CL_IN(indices),
                            ND4C_CL_INT(indices != NULL && indices->dtype == ND4C_INT64, indices != NULL),
                            ND4C_CL_LONG(circular ? y->shape[axis] - 1 : y->shape[axis] - update->shape[axis],
                                         y->shape[axis], y->strides[axis]),
                            ND4C_CL_VALUE(walk), ND4C_CL_FAULT);
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define INDEX_DTYPES (ND4C_DTYPE_BIT(ND4C_INT32) | ND4C_DTYPE_BIT(ND4C_INT64))
#define OPS(X)                                                                           \
  X(tril, ND4C_CL_MOVABLE, band(step, INT64_MIN, ND4C_INT_OF(step->call, tril_k)), NULL) \
  X(triu, ND4C_CL_MOVABLE, band(step, ND4C_INT_OF(step->call, triu_k), INT64_MAX), NULL) \
  X(matrix_band_part, ND4C_CL_MOVABLE, matrix_band_part(step), NULL)                     \
  X(diag, ND4C_CL_MOVABLE, diag(step), NULL)                                             \
  X(diag_embed, ND4C_CL_MOVABLE, diag_embed(step), NULL)                                 \
  X(matrix_set_diag, ND4C_CL_MOVABLE, matrix_set_diag(step), NULL)                       \
  X(sequence_mask, INDEX_DTYPES, sequence_mask(step), NULL)                              \
  X(one_hot, INDEX_DTYPES, one_hot(step), NULL)                                          \
  X(invert_permutation, INDEX_DTYPES, invert_permutation(step), invert_scratch)          \
  X(unravel_index, INDEX_DTYPES, unravel_index(step), NULL)                              \
  X(ravel_multi_index, INDEX_DTYPES, ravel_multi_index(step), NULL)                      \
  X(dynamic_partition, ND4C_CL_MOVABLE, dynamic_partition(step), group_scratch)          \
  X(segment_sum, ND4C_CL_ALL, reduce_segments(step, SUM), group_scratch)                 \
  X(segment_mean, ND4C_CL_ALL, reduce_segments(step, MEAN), group_scratch)               \
  X(segment_max, ND4C_CL_ALL, reduce_segments(step, MAX), group_scratch)                 \
  X(segment_min, ND4C_CL_ALL, reduce_segments(step, MIN), group_scratch)                 \
  X(segment_prod, ND4C_CL_ALL, reduce_segments(step, PROD), group_scratch)               \
  X(segment_sqrt_n, ND4C_CL_ALL, reduce_segments(step, SQRT_N), group_scratch)           \
  X(col2im, ND4C_CL_ALL, col2im(step), NULL)                                             \
  X(tensor_scatter, ND4C_CL_MOVABLE, tensor_scatter(step), NULL)
OPS(ND4C_CL_STEP_KERNEL)

const nd4c_kernel *const nd4c_cl_indexing_parts_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
