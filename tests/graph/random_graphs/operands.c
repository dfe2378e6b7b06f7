/* Operands of random graphs: values picked from those that are there, and leaves with random elements. The files of
 * motifs and supply.c call these. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random_graphs.h"

static const int64_t extents[] = {1, 1, 2, 2, 3, 3, 3, 5, 5, 8, 8, 17};
enum { EXTENTS = sizeof extents / sizeof extents[0] };

/* -- picking ------------------------------------------------------------------------------------------------------- */

/* Half of the picks are among the last six, so that chains grow. */
static int32_t pick_value(rg_sketch *sketch) {
  const int32_t count = sketch->value_count;
  return rg_chance(sketch, 2) && count > 6 ? count - 1 - rg_pick(sketch, 6) : rg_pick(sketch, count);
}

int32_t rg_any(rg_sketch *sketch) {
  return sketch->value_count == 0 ? rg_input(sketch) : pick_value(sketch);
}

int32_t rg_any_float(rg_sketch *sketch) {
  for (int32_t i = 0; i < 8 && sketch->value_count > 0; i++) {
    const int32_t value = pick_value(sketch);
    if (rg_is_float(rg_dtype(sketch, value))) {
      return value;
    }
  }
  return rg_input(sketch);
}

int32_t rg_of_rank(rg_sketch *sketch, int32_t rank) {
  for (int32_t i = 0; i < 12 && sketch->value_count > 0; i++) {
    const int32_t value = pick_value(sketch);
    if (rg_rank(sketch, value) == rank && rg_is_float(rg_dtype(sketch, value)) && rg_size(sketch, value) > 0) {
      return value;
    }
  }
  int64_t shape[RG_RANK];
  for (int32_t i = 0; i < rank; i++) {
    shape[i] = extents[rg_pick(sketch, EXTENTS)];
    shape[i] = i < rank - 2 && shape[i] > 5 ? 3 : shape[i];
  }
  return rg_filled(sketch, rg_chance(sketch, 8) ? ND4C_FLOAT64 : ND4C_FLOAT32, rank, shape, false);
}

/* -- ordinary numbers ---------------------------------------------------------------------------------------------- */

double rg_largest(const rg_sketch *sketch, int32_t value) {
  const int64_t size = rg_size(sketch, value);
  nd4c_array *wide = NULL;
  rg_must(nd4c_cast(sketch->values[value].array, ND4C_FLOAT64, &wide), "cast");
  double largest = 0, *numbers = rg_need((size_t)size * sizeof *numbers);
  rg_must(nd4c_array_read(wide, numbers, (size_t)size * sizeof *numbers), "read");
  for (int64_t i = 0; i < size && isfinite(largest); i++) {
    largest = isnan(numbers[i]) || fabs(numbers[i]) > largest ? fabs(numbers[i]) : largest;
  }
  free(numbers);
  nd4c_array_release(wide);
  return isnan(largest) ? (double)INFINITY : largest;
}

int32_t rg_finite(rg_sketch *sketch, int32_t rank) {
  for (int32_t i = 0; i < 6; i++) {
    const int32_t value = rg_of_rank(sketch, rank);
    if (value >= 0 && rg_dtype(sketch, value) == ND4C_FLOAT32 && rg_largest(sketch, value) < 1e4) {
      return value;
    }
  }
  int64_t shape[RG_RANK];
  for (int32_t i = 0; i < rank; i++) {
    shape[i] = 1 + rg_pick(sketch, 6);
  }
  return rg_plain_input(sketch, rank, shape);
}

/* -- elements ------------------------------------------------------------------------------------------------------ */

double rg_special(rg_sketch *sketch) {
  static const double numbers[] = {0.0, -0.0, 1.0, 1.0, -1.0, 2.0, 0.5, 4.0, -2.0, 0.25, 3.0, 1.5};
  enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
  if (rg_chance(sketch, 10)) { /* also subnormals, and numbers whose products leave float32's range */
    static const double rare[] = {(double)INFINITY, -(double)INFINITY, (double)NAN, 1e-40, -1e-40, 1e37, -1e37};
    return rare[rg_pick(sketch, sizeof rare / sizeof rare[0])];
  }
  return rg_chance(sketch, 5) ? rg_number(sketch, -3, 3) : numbers[rg_pick(sketch, NUMBERS)];
}

/* How the elements of one leaf are chosen. */
typedef enum filling { UNIFORM, SPECIALS, ONES, ZEROS, SAME, POWERS, ASCENDING } filling;

static double element(rg_sketch *sketch, filling how, int64_t position, double same, nd4c_dtype dtype) {
  switch (how) {
    case SPECIALS:
      return rg_special(sketch);
    case ONES:
      return 1;
    case ZEROS:
      return same < 0 ? -0.0 : 0.0;
    case SAME:
      return same;
    case POWERS:
      return ldexp(rg_chance(sketch, 2) ? 1 : -1, rg_pick(sketch, 7) - 3);
    case ASCENDING:
      return (double)position;
    default:
      return rg_is_float(dtype) ? rg_number(sketch, -2, 2) : (double)(rg_pick(sketch, 19) - 9);
  }
}

static filling choose_filling(rg_sketch *sketch) {
  static const filling ways[] = {SPECIALS, ONES, ZEROS, SAME, POWERS, ASCENDING};
  return rg_chance(sketch, 4) ? ways[rg_pick(sketch, sizeof ways / sizeof ways[0])] : UNIFORM;
}

/* Numbers into the dtype. Rounds and saturates by the rules of cast. */
static nd4c_array *make_array(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const double *numbers) {
  nd4c_array *wide = NULL, *array = NULL;
  rg_must(nd4c_array_from_data(ND4C_FLOAT64, rank, shape, numbers, NULL, &wide), "array");
  rg_must(nd4c_cast(wide, dtype, &array), "cast");
  nd4c_array_release(wide);
  return array;
}

static int64_t size_of(int32_t rank, const int64_t *shape) {
  int64_t size = 1;
  for (int32_t i = 0; i < rank; i++) {
    size *= shape[i];
  }
  return size;
}

int32_t rg_filled(rg_sketch *sketch, nd4c_dtype dtype, int32_t rank, const int64_t *shape, bool is_constant) {
  const int64_t size = size_of(rank, shape);
  if (size > RG_LIMIT_ELEMENTS) {
    return RG_NONE;
  }
  const filling how = dtype == ND4C_BOOL ? UNIFORM : choose_filling(sketch);
  const double same = rg_special(sketch);
  double *numbers = rg_need((size_t)size * sizeof *numbers);
  for (int64_t i = 0; i < size; i++) {
    numbers[i] = dtype == ND4C_BOOL ? rg_pick(sketch, 2) : element(sketch, how, i, same, dtype);
    numbers[i] = nd4c_dtype_get_info(dtype)->kind == ND4C_KIND_UINT ? fabs(numbers[i]) : numbers[i];
  }
  nd4c_array *array = make_array(dtype, rank, shape, numbers);
  free(numbers);
  return rg_leaf(sketch, array, is_constant);
}

int32_t rg_constant(rg_sketch *sketch, nd4c_dtype dtype, int32_t rank, const int64_t *shape) {
  return rg_filled(sketch, dtype, rank, shape, !rg_chance(sketch, 12));
}

/* A leaf of numbers between two others. */
static int32_t between(rg_sketch *sketch, nd4c_dtype dtype, int32_t rank, const int64_t *shape, double low, double high,
                       bool is_constant) {
  const int64_t size = size_of(rank, shape);
  if (size > RG_LIMIT_CONSTANT) {
    return RG_NONE;
  }
  double *numbers = rg_need((size_t)size * sizeof *numbers);
  for (int64_t i = 0; i < size; i++) {
    numbers[i] = rg_number(sketch, low, high);
  }
  nd4c_array *array = make_array(dtype, rank, shape, numbers);
  free(numbers);
  return rg_leaf(sketch, array, is_constant);
}

int32_t rg_between(rg_sketch *sketch, nd4c_dtype dtype, int32_t rank, const int64_t *shape, double low, double high) {
  const bool small = size_of(rank, shape) <= RG_LIMIT_ELEMENTS;
  return between(sketch, dtype, rank, shape, low, high, !small || !rg_chance(sketch, 12));
}

int32_t rg_plain_input(rg_sketch *sketch, int32_t rank, const int64_t *shape) {
  return between(sketch, ND4C_FLOAT32, rank, shape, -2, 2, false);
}

int32_t rg_scalar(rg_sketch *sketch, int32_t like, double number) {
  if (like < 0) {
    return RG_NONE;
  }
  const int32_t full = rg_rank(sketch, like), kind = rg_pick(sketch, 8);
  int64_t shape[RG_RANK];
  const int32_t rank = kind < 5 ? 0 : (kind == 5 ? full < 1 ? full : 1 : full);
  for (int32_t i = 0; i < rank; i++) {
    shape[i] = kind == 7 ? rg_shape(sketch, like)[i] : 1; /* 7: all elements, each the number */
  }
  const int64_t size = size_of(rank, shape);
  double *numbers = rg_need((size_t)size * sizeof *numbers);
  for (int64_t i = 0; i < size; i++) {
    numbers[i] = number;
  }
  nd4c_array *array = make_array(rg_dtype(sketch, like), rank, shape, numbers);
  free(numbers);
  return rg_leaf(sketch, array, !rg_chance(sketch, 16));
}

static const nd4c_dtype rare_dtypes[] = {ND4C_INT8, ND4C_INT16,   ND4C_UINT16,   ND4C_UINT32,  ND4C_UINT64, ND4C_UINT8,
                                         ND4C_BOOL, ND4C_FLOAT16, ND4C_BFLOAT16, ND4C_FLOAT64, ND4C_INT32,  ND4C_INT64};

nd4c_dtype rg_rare_dtype(rg_sketch *sketch) {
  return rare_dtypes[rg_pick(sketch, sizeof rare_dtypes / sizeof rare_dtypes[0])];
}

int32_t rg_input(rg_sketch *sketch) {
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT32, ND4C_FLOAT32, ND4C_FLOAT32, ND4C_FLOAT32,
                                      ND4C_FLOAT64, ND4C_FLOAT32, ND4C_FLOAT16, ND4C_BFLOAT16,
                                      ND4C_INT32,   ND4C_INT64,   ND4C_UINT8,   ND4C_BOOL};
  static const int32_t ranks[] = {0, 1, 2, 2, 2, 3, 3, 4, 4};
  const bool wide = rg_is_wide(sketch);
  const nd4c_dtype dtype =
      wide && rg_chance(sketch, 2) ? rg_rare_dtype(sketch) : dtypes[rg_pick(sketch, sizeof dtypes / sizeof dtypes[0])];
  const int32_t rank =
      wide && rg_chance(sketch, 4) ? 5 + rg_pick(sketch, 2) : ranks[rg_pick(sketch, sizeof ranks / sizeof ranks[0])];
  int64_t shape[RG_RANK];
  for (int32_t i = 0; i < rank; i++) {
    shape[i] = rg_chance(sketch, wide ? 16 : 40) ? 0 : extents[rg_pick(sketch, EXTENTS)];
    shape[i] = rank > 3 && shape[i] > 8 ? 5 : shape[i];
    shape[i] = rank > 4 && shape[i] > 3 ? 2 : shape[i];
  }
  return rg_filled(sketch, dtype, rank, shape, rg_chance(sketch, 10));
}
