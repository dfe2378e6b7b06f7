/* Ranges, one-hot, segments (parts.h). The families indexing and creation of engine reference call these. */
#include "kernels/reference/indexing/parts.h"

#include "kernels/reference/elementwise/elementwise.h"

enum { MAX_RANK = 32 };

void nd4c_ref_number(nd4c_dtype dtype, uint64_t number, char *element) {
  nd4c_value value = {.u = number};
  nd4c_value_store(dtype, element, 0, nd4c_value_cast(ND4C_KIND_UINT, value, dtype));
}

/* -- ranges -------------------------------------------------------------------------------------------------------- */

static void store_double(const nd4c_ref_tensor *y, int64_t i, double number) {
  nd4c_value value = nd4c_value_cast(ND4C_KIND_FLOAT, (nd4c_value){.f = number}, y->dtype);
  nd4c_value_store(y->dtype, y->data, i * y->strides[0], value);
}

/* Stores of the usual dtypes into contiguous memory, as loops that compilers vectorise; false for all others. */
#define STORE_CASE(NAME, type, number)      \
  case ND4C_##NAME: {                       \
    type *to = (type *)y->data;             \
    for (int64_t i = begin; i < end; i++) { \
      to[i] = (type)(number);               \
    }                                       \
    return true;                            \
  }

static bool store_reals(const nd4c_ref_range *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *y = &args->y;
  const double start = args->start, step = args->step;
  switch (y->strides[0] == 1 ? y->dtype : ND4C_DTYPE_NONE) {
    STORE_CASE(FLOAT32, float, start + (double)i * step)
    STORE_CASE(FLOAT64, double, start + (double)i * step)
    default:
      return false;
  }
}

static bool store_integers(const nd4c_ref_range *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *y = &args->y;
  const uint64_t first = (uint64_t)args->first, stride = (uint64_t)args->stride;
  switch (y->strides[0] == 1 ? y->dtype : ND4C_DTYPE_NONE) {
    STORE_CASE(INT32, int32_t, first + (uint64_t)i * stride)
    STORE_CASE(INT64, int64_t, first + (uint64_t)i * stride)
    default:
      return false;
  }
}

void nd4c_ref_arange(const nd4c_ref_range *args, int64_t begin, int64_t end) {
  if (store_reals(args, begin, end)) {
    return;
  }
  for (int64_t i = begin; i < end; i++) {
    store_double(&args->y, i, args->start + (double)i * args->step);
  }
}

void nd4c_ref_integer_range(const nd4c_ref_range *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *y = &args->y;
  if (store_integers(args, begin, end)) {
    return;
  }
  for (int64_t i = begin; i < end; i++) {
    nd4c_value value = {.u = (uint64_t)args->first + (uint64_t)i * (uint64_t)args->stride};
    nd4c_value_store(y->dtype, y->data, i * y->strides[0], nd4c_value_cast(ND4C_KIND_INT, value, y->dtype));
  }
}

void nd4c_ref_spaced(const nd4c_ref_range *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *y = &args->y;
  const nd4c_spacing *spacing = &args->spacing;
  nd4c_dtype_kind kind = nd4c_reference_kind(y->dtype);
  long double start = (long double)spacing->start, gap = (long double)spacing->stop - start;
  for (int64_t i = begin; i < end; i++) {
    bool last = i == spacing->steps;
    long double number = spacing->steps == 0 ? start
                         : last              ? (long double)spacing->stop
                                             : start + gap * (long double)i / (long double)spacing->steps;
    number = spacing->is_power ? powl((long double)spacing->base, number) : number;
    number = kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT ? floorl(number) : number;
    store_double(y, i, (double)number);
  }
}

void nd4c_ref_indices(const nd4c_ref_tensor *y) {
  static const int64_t same[MAX_RANK];
  for (int64_t axis = 0; axis < y->shape[0]; axis++) {
    int64_t shape[MAX_RANK], bytes = nd4c_reference_bytes(y->dtype);
    for (int32_t i = 1; i < y->rank; i++) {
      shape[i - 1] = i == axis + 1 ? 1 : y->shape[i];
    }
    nd4c_ref_plan plan;
    nd4c_ref_plan_make(&plan, NULL, y->dtype, y->rank - 1, shape, same, y->strides + 1);
    for (int64_t i = 0; i < y->shape[axis + 1] && plan.size > 0; i++) {
      char element[16];
      nd4c_ref_number(y->dtype, (uint64_t)i, element);
      nd4c_ref_plan_run(&plan, element, y->data + (axis * y->strides[0] + i * y->strides[axis + 1]) * bytes);
    }
  }
}

/* -- from indices -------------------------------------------------------------------------------------------------- */

void nd4c_ref_sequence_mask(const nd4c_ref_tensor *lengths, const nd4c_ref_tensor *y) {
  const int64_t *strides[2] = {lengths->strides, y->strides};
  char element[2][16];
  int64_t bytes = nd4c_reference_bytes(y->dtype);
  nd4c_ref_walk walk;
  nd4c_ref_number(y->dtype, 0, element[0]);
  nd4c_ref_number(y->dtype, 1, element[1]);
  for (bool more = nd4c_ref_walk_start(&walk, y->rank, y->shape, 2, strides); more; more = nd4c_ref_walk_next(&walk)) {
    int64_t length = nd4c_ref_index(lengths->dtype, lengths->data, walk.at[0]);
    for (int64_t i = 0; i < walk.length; i++) {
      nd4c_ref_move_one(bytes, element[i < length], y->data + (walk.at[1] + i * walk.step[1]) * bytes);
    }
  }
}

void nd4c_ref_one_hot(const nd4c_ref_tensor *indices, const nd4c_ref_tensor *y, int32_t axis, const char *on) {
  int64_t without[MAX_RANK], bytes = nd4c_reference_bytes(y->dtype), depth = y->shape[axis];
  const int64_t *strides[2] = {indices->strides, without};
  nd4c_ref_walk walk;
  for (int32_t i = 0; i < indices->rank; i++) {
    without[i] = y->strides[i < axis ? i : i + 1];
  }
  for (bool more = nd4c_ref_walk_start(&walk, indices->rank, indices->shape, 2, strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++) {
      int64_t d = nd4c_ref_index(indices->dtype, indices->data, walk.at[0] + i * walk.step[0]);
      d += d < 0 ? depth : 0;
      if (d >= 0 && d < depth) {
        nd4c_ref_move_one(bytes, on, y->data + (walk.at[1] + i * walk.step[1] + d * y->strides[axis]) * bytes);
      }
    }
  }
}

void nd4c_ref_unravel(const nd4c_ref_tensor *indices, int32_t axes, const int64_t *shape, const nd4c_ref_tensor *y) {
  const int64_t *strides[2] = {indices->strides, y->strides + 1};
  int64_t size = nd4c_ref_extent(axes, shape);
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, indices->rank, indices->shape, 2, strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++) {
      int64_t number = nd4c_ref_index(indices->dtype, indices->data, walk.at[0] + i * walk.step[0]);
      number += number < 0 ? size : 0;
      for (int32_t axis = axes - 1; axis >= 0; axis--) {
        nd4c_value value = {.i = number % shape[axis]};
        number /= shape[axis];
        nd4c_value_store(ND4C_INT64, y->data, axis * y->strides[0] + walk.at[1] + i * walk.step[1], value);
      }
    }
  }
}

bool nd4c_ref_check_multi(const nd4c_ref_tensor *indices, const int64_t *shape, nd4c_ref_bad_index *bad) {
  int64_t bytes = nd4c_reference_bytes(indices->dtype), size = nd4c_ref_extent(indices->rank - 1, indices->shape + 1);
  for (int32_t axis = 0; axis < indices->shape[0]; axis++) {
    nd4c_ref_tensor row = {indices->dtype, indices->rank - 1, indices->shape + 1, indices->strides + 1,
                           indices->data + axis * indices->strides[0] * bytes};
    if (nd4c_ref_find_bad_index(&row, shape[axis], &bad->flat, &bad->value)) {
      bad->flat += axis * size;
      bad->axis = axis;
      bad->extent = shape[axis];
      return false;
    }
  }
  return true;
}

void nd4c_ref_ravel(const nd4c_ref_tensor *indices, const int64_t *shape, const nd4c_ref_tensor *y) {
  const int64_t *strides[2] = {indices->strides + 1, y->strides};
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, y->rank, y->shape, 2, strides); more; more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++) {
      nd4c_value number = {.i = 0};
      for (int32_t axis = 0; axis < indices->shape[0]; axis++) {
        int64_t at = axis * indices->strides[0] + walk.at[0] + i * walk.step[0];
        int64_t index = nd4c_ref_index(indices->dtype, indices->data, at);
        number.i = number.i * shape[axis] + (index < 0 ? index + shape[axis] : index);
      }
      nd4c_value_store(ND4C_INT64, y->data, walk.at[1] + i * walk.step[1], number);
    }
  }
}

/* -- groups and segments ------------------------------------------------------------------------------------------- */

/* Counting sort: counts, then where each group begins, then every row at its group's next place. */
void nd4c_ref_group(const nd4c_ref_tensor *groups_of, int64_t groups, int64_t *starts, int64_t *order) {
  nd4c_ref_walk walk;
  memset(starts, 0, (size_t)(groups + 1) * sizeof *starts);
  for (int pass = 0; pass < 2; pass++) {
    int64_t row = 0;
    for (bool more = nd4c_ref_walk_start(&walk, groups_of->rank, groups_of->shape, 1, &groups_of->strides); more;
         more = nd4c_ref_walk_next(&walk)) {
      for (int64_t i = 0; i < walk.length; i++, row++) {
        int64_t group = nd4c_ref_index(groups_of->dtype, groups_of->data, walk.at[0] + i * walk.step[0]);
        if (pass == 0) {
          starts[group + 1]++;
        } else {
          order[starts[group]++] = row;
        }
      }
    }
    for (int64_t group = 0; group < groups && pass == 0; group++) {
      starts[group + 1] += starts[group];
    }
  }
  /* The second pass moved every start to the next group's. */
  for (int64_t group = groups; group > 0; group--) {
    starts[group] = starts[group - 1];
  }
  starts[0] = 0;
}

/* What no element at all gives. */
static nd4c_value identity(nd4c_ref_segment_op op, nd4c_dtype dtype) {
  nd4c_dtype_kind kind = nd4c_reference_kind(dtype);
  int64_t highest = INT64_MAX >> (64 - 8 * nd4c_reference_bytes(dtype)) % 64;
  bool max = op == ND4C_REF_SEGMENT_MAX, extreme = max || op == ND4C_REF_SEGMENT_MIN;
  if (extreme && kind == ND4C_KIND_FLOAT) {
    return (nd4c_value){.f = max ? -INFINITY : INFINITY};
  }
  if (extreme && kind == ND4C_KIND_INT) {
    return (nd4c_value){.i = max ? -highest - 1 : highest};
  }
  if (extreme) {
    return (nd4c_value){.u = max ? 0 : UINT64_MAX};
  }
  uint64_t number = op == ND4C_REF_SEGMENT_PROD;
  return nd4c_value_cast(ND4C_KIND_UINT, (nd4c_value){.u = number}, dtype);
}

static nd4c_value finish(nd4c_ref_segment_op op, nd4c_dtype_kind kind, nd4c_value sum, int64_t count) {
  double divisor = op == ND4C_REF_SEGMENT_MEAN     ? (double)count
                   : op == ND4C_REF_SEGMENT_SQRT_N ? sqrt((double)count)
                                                   : 1;
  if (count > 0 && divisor != 1 && kind == ND4C_KIND_FLOAT) {
    sum.f /= divisor;
  } else if (count > 0 && divisor != 1) {
    sum.c /= divisor;
  }
  return sum;
}

enum { BLOCK = 128 };

/* A block of up to BLOCK elements of one row of the inner axes, over all rows of a segment. */
static void reduce_block(const nd4c_ref_segments *args, int64_t segment, int64_t count, int64_t x_at, int64_t x_step,
                         int64_t y_at, int64_t y_step) {
  static const nd4c_value_function functions[] = {nd4c_value_add,     nd4c_value_add,      nd4c_value_maximum,
                                                  nd4c_value_minimum, nd4c_value_multiply, nd4c_value_add};
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  nd4c_dtype_kind kind = nd4c_reference_kind(x->dtype);
  nd4c_dtype_kind kinds[2] = {kind, kind};
  nd4c_value_function function = functions[args->op];
  nd4c_value sums[BLOCK];
  int64_t begin = args->starts[segment], end = args->starts[segment + 1];
  for (int64_t j = 0; j < count; j++) {
    sums[j] = identity(args->op, x->dtype);
  }
  for (int64_t k = begin; k < end; k++) {
    int64_t row = x_at + args->order[k] * x->strides[0];
    for (int64_t j = 0; j < count; j++) {
      nd4c_value operands[2] = {sums[j], nd4c_value_load(x->dtype, x->data, row + j * x_step)};
      sums[j] = k == begin ? operands[1] : function(kinds, operands);
    }
  }
  for (int64_t j = 0; j < count; j++) {
    nd4c_value_store(y->dtype, y->data, y_at + j * y_step, finish(args->op, kind, sums[j], end - begin));
  }
}

void nd4c_ref_reduce_segments(const nd4c_ref_segments *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  const int64_t *strides[2] = {x->strides + 1, y->strides + 1};
  for (int64_t segment = begin; segment < end; segment++) {
    nd4c_ref_walk walk;
    for (bool more = nd4c_ref_walk_start(&walk, x->rank - 1, x->shape + 1, 2, strides); more;
         more = nd4c_ref_walk_next(&walk)) {
      for (int64_t i = 0; i < walk.length; i += BLOCK) {
        int64_t count = walk.length - i < BLOCK ? walk.length - i : BLOCK;
        reduce_block(args, segment, count, walk.at[0] + i * walk.step[0], walk.step[0],
                     segment * y->strides[0] + walk.at[1] + i * walk.step[1], walk.step[1]);
      }
    }
  }
}
