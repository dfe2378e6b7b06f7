/* Samplers and oracles of ops that move elements. */
#include <string.h>

#include "conformance.h"

/* Takes the values of input 0 in C order into a result of another shape. */
static void expect_same_order(const cf_case *c, cf_expected *expected, int32_t rank, const int64_t *shape) {
  cf_expect(expected, c->dtype, rank, shape, false);
  for (int64_t i = 0; i < expected->size; i++) {
    expected->values[i] = cf_get(&c->inputs[0], i);
  }
}

static void split_index(int32_t rank, const int64_t *shape, int64_t number, int64_t *index) {
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    index[axis] = number % shape[axis];
    number /= shape[axis];
  }
}

static int64_t join_index(int32_t rank, const int64_t *shape, const int64_t *index) {
  int64_t number = 0;
  for (int32_t axis = 0; axis < rank; axis++) {
    number = number * shape[axis] + index[axis];
  }
  return number;
}

static int64_t from_end(int64_t axis, int32_t rank) {
  return axis < 0 ? axis + rank : axis;
}

typedef struct list {
  int32_t count;
  int64_t values[6];
} list;

typedef struct shape_and_list {
  list shape, attr;
} shape_and_list;

/* -- reshape, broadcast_to -------------------------------------------------------------------------------------- */

bool cf_sample_reshape(cf_random *random, int32_t number, cf_case *c) {
  static const shape_and_list cases[] = {{{2, {3, 4}}, {1, {12}}},
                                         {{3, {2, 3, 4}}, {2, {6, 4}}},
                                         {{3, {2, 3, 4}}, {2, {4, -1}}},
                                         {{1, {1}}, {0, {0}}},
                                         {{0, {0}}, {3, {1, 1, 1}}},
                                         {{2, {0, 5}}, {3, {2, 0, 7}}},
                                         {{4, {2, 3, 4, 2}}, {3, {2, 12, 2}}}};
  if (number >= (int32_t)(sizeof cases / sizeof cases[0])) {
    return false;
  }
  cf_filled(c, random, CF_SMALL, c->dtype, cases[number].shape.count, cases[number].shape.values);
  cf_attr_ints(c, "shape", cases[number].attr.count, cases[number].attr.values);
  return true;
}

void cf_oracle_reshape(const cf_case *c, cf_expected *expected) {
  int32_t rank = 0;
  const int64_t *given = cf_ints_of(c, "shape", &rank);
  int64_t shape[CF_RANK], rest = 1, open = -1;
  for (int32_t i = 0; i < rank; i++) {
    shape[i] = given[i];
    open = given[i] == -1 ? i : open;
    rest *= given[i] == -1 ? 1 : given[i];
  }
  if (open >= 0) {
    shape[open] = c->inputs[0].size / rest;
  }
  expect_same_order(c, expected, rank, shape);
}

bool cf_sample_broadcast_to(cf_random *random, int32_t number, cf_case *c) {
  static const shape_and_list cases[] = {{{0, {0}}, {2, {3, 4}}},       {{1, {4}}, {2, {3, 4}}},
                                         {{2, {3, 1}}, {3, {2, 3, 5}}}, {{2, {3, 4}}, {2, {3, 4}}},
                                         {{2, {1, 4}}, {2, {0, 4}}},    {{4, {2, 1, 3, 1}}, {4, {2, 5, 3, 2}}}};
  if (number >= (int32_t)(sizeof cases / sizeof cases[0])) {
    return false;
  }
  cf_filled(c, random, CF_SMALL, c->dtype, cases[number].shape.count, cases[number].shape.values);
  cf_attr_ints(c, "shape", cases[number].attr.count, cases[number].attr.values);
  return true;
}

void cf_oracle_broadcast_to(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  int32_t rank = 0;
  const int64_t *shape = cf_ints_of(c, "shape", &rank);
  cf_expect(expected, c->dtype, rank, shape, false);
  for (int64_t i = 0; i < expected->size; i++) {
    int64_t to[CF_RANK], from[CF_RANK];
    split_index(rank, shape, i, to);
    for (int32_t axis = 0; axis < x->rank; axis++) {
      from[axis] = x->shape[axis] == 1 ? 0 : to[axis + rank - x->rank];
    }
    expected->values[i] = cf_get(x, join_index(x->rank, x->shape, from));
  }
}

/* -- transpose, squeeze, expand_dims, flatten ------------------------------------------------------------------- */

bool cf_sample_transpose(cf_random *random, int32_t number, cf_case *c) {
  static const shape_and_list cases[] = {{{0, {0}}, {0, {0}}},
                                         {{1, {5}}, {1, {0}}},
                                         {{2, {3, 4}}, {0, {0}}},
                                         {{3, {2, 3, 4}}, {3, {1, 2, 0}}},
                                         {{4, {2, 3, 4, 5}}, {4, {0, 2, 3, 1}}},
                                         {{3, {2, 0, 3}}, {3, {-1, 0, 1}}},
                                         {{2, {37, 21}}, {2, {1, 0}}}};
  if (number >= (int32_t)(sizeof cases / sizeof cases[0])) {
    return false;
  }
  cf_filled(c, random, CF_SMALL, c->dtype, cases[number].shape.count, cases[number].shape.values);
  cf_attr_ints(c, "axes", cases[number].attr.count, cases[number].attr.values);
  return true;
}

void cf_oracle_transpose(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  int32_t count = 0;
  const int64_t *axes = cf_ints_of(c, "axes", &count);
  int64_t shape[CF_RANK], source[CF_RANK];
  for (int32_t i = 0; i < x->rank; i++) {
    source[i] = count == 0 ? x->rank - 1 - i : from_end(axes[i], x->rank);
    shape[i] = x->shape[source[i]];
  }
  cf_expect(expected, c->dtype, x->rank, shape, false);
  for (int64_t i = 0; i < expected->size; i++) {
    int64_t to[CF_RANK], from[CF_RANK];
    split_index(x->rank, shape, i, to);
    for (int32_t axis = 0; axis < x->rank; axis++) {
      from[source[axis]] = to[axis];
    }
    expected->values[i] = cf_get(x, join_index(x->rank, x->shape, from));
  }
}

bool cf_sample_squeeze(cf_random *random, int32_t number, cf_case *c) {
  static const shape_and_list cases[] = {{{3, {1, 4, 1}}, {0, {0}}},
                                         {{3, {1, 4, 1}}, {1, {-1}}},
                                         {{4, {1, 1, 3, 1}}, {2, {3, 0}}},
                                         {{2, {1, 1}}, {0, {0}}},
                                         {{2, {0, 1}}, {1, {1}}},
                                         {{2, {3, 4}}, {0, {0}}},
                                         {{3, {1, 4, 1}}, {CF_NO_VALUES, {0}}}};
  if (number >= (int32_t)(sizeof cases / sizeof cases[0])) {
    return false;
  }
  cf_filled(c, random, CF_SMALL, c->dtype, cases[number].shape.count, cases[number].shape.values);
  cf_attr_ints(c, "axes", cases[number].attr.count, cases[number].attr.values);
  return true;
}

void cf_oracle_squeeze(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  int32_t count = 0, rank = 0;
  const int64_t *axes = cf_ints_of(c, "axes", &count);
  int64_t shape[CF_RANK];
  for (int32_t i = 0; i < x->rank; i++) {
    bool dropped = axes == NULL && x->shape[i] == 1;
    for (int32_t k = 0; k < count; k++) {
      dropped = dropped || from_end(axes[k], x->rank) == i;
    }
    if (!dropped) {
      shape[rank++] = x->shape[i];
    }
  }
  expect_same_order(c, expected, rank, shape);
}

bool cf_sample_expand_dims(cf_random *random, int32_t number, cf_case *c) {
  static const shape_and_list cases[] = {{{0, {0}}, {1, {0}}},
                                         {{2, {3, 4}}, {1, {1}}},
                                         {{2, {3, 4}}, {3, {0, -1, 2}}},
                                         {{1, {0}}, {1, {-1}}},
                                         {{3, {2, 3, 2}}, {2, {0, 1}}}};
  if (number >= (int32_t)(sizeof cases / sizeof cases[0])) {
    return false;
  }
  cf_filled(c, random, CF_SMALL, c->dtype, cases[number].shape.count, cases[number].shape.values);
  cf_attr_ints(c, "axes", cases[number].attr.count, cases[number].attr.values);
  return true;
}

void cf_oracle_expand_dims(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  int32_t count = 0;
  const int64_t *axes = cf_ints_of(c, "axes", &count);
  int32_t rank = x->rank + count, taken = 0;
  int64_t shape[CF_RANK];
  for (int32_t i = 0; i < rank; i++) {
    bool inserted = false;
    for (int32_t k = 0; k < count; k++) {
      inserted = inserted || from_end(axes[k], rank) == i;
    }
    shape[i] = inserted ? 1 : x->shape[taken++];
  }
  expect_same_order(c, expected, rank, shape);
}

bool cf_sample_flatten(cf_random *random, int32_t number, cf_case *c) {
  static const shape_and_list cases[] = {{{3, {2, 3, 4}}, {1, {1}}}, {{3, {2, 3, 4}}, {1, {-1}}},
                                         {{3, {2, 3, 4}}, {1, {0}}}, {{2, {2, 3}}, {1, {2}}},
                                         {{0, {0}}, {1, {0}}},       {{3, {2, 0, 3}}, {1, {1}}}};
  if (number >= (int32_t)(sizeof cases / sizeof cases[0])) {
    return false;
  }
  cf_filled(c, random, CF_SMALL, c->dtype, cases[number].shape.count, cases[number].shape.values);
  cf_attr_int(c, "axis", cases[number].attr.values[0]);
  return true;
}

void cf_oracle_flatten(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  int64_t axis = from_end(cf_int_of(c, "axis", -1), x->rank), shape[2] = {1, 1};
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i < axis ? 0 : 1] *= x->shape[i];
  }
  expect_same_order(c, expected, 2, shape);
}

/* -- slice ------------------------------------------------------------------------------------------------------ */

typedef struct cut_case {
  list shape, starts, stops, axes, steps;
} cut_case;

bool cf_sample_slice(cf_random *random, int32_t number, cf_case *c) {
  static const cut_case cases[] = {{{1, {9}}, {1, {2}}, {1, {7}}, {0, {0}}, {0, {0}}},
                                   {{1, {9}}, {1, {-1}}, {1, {ND4C_SLICE_NONE}}, {0, {0}}, {1, {-2}}},
                                   {{2, {5, 6}}, {2, {1, 0}}, {2, {100, 6}}, {0, {0}}, {2, {1, 2}}},
                                   {{3, {3, 4, 5}}, {2, {-2, 4}}, {2, {-1, 1}}, {2, {1, -1}}, {2, {1, -1}}},
                                   {{1, {5}}, {1, {3}}, {1, {3}}, {0, {0}}, {0, {0}}},
                                   {{1, {5}}, {1, {-100}}, {1, {-200}}, {0, {0}}, {0, {0}}},
                                   {{4, {2, 3, 4, 5}}, {2, {0, 1}}, {2, {4, 5}}, {2, {2, 3}}, {2, {3, 3}}},
                                   {{0, {0}}, {0, {0}}, {0, {0}}, {0, {0}}, {0, {0}}},
                                   {{2, {0, 4}}, {1, {0}}, {1, {2}}, {1, {1}}, {0, {0}}},
                                   {{1, {7}}, {1, {ND4C_SLICE_NONE}}, {1, {ND4C_SLICE_NONE}}, {0, {0}}, {1, {-1}}}};
  if (number >= (int32_t)(sizeof cases / sizeof cases[0])) {
    return false;
  }
  const cut_case *k = &cases[number];
  cf_filled(c, random, CF_SMALL, c->dtype, k->shape.count, k->shape.values);
  cf_attr_ints(c, "starts", k->starts.count, k->starts.values);
  cf_attr_ints(c, "stops", k->stops.count, k->stops.values);
  cf_attr_ints(c, "axes", k->axes.count, k->axes.values);
  cf_attr_ints(c, "steps", k->steps.count, k->steps.values);
  return true;
}

/* Whether Python's range over one axis takes an index, told by the definition: it walks. */
static int64_t walk_cut(int64_t start, int64_t stop, int64_t step, int64_t extent, int64_t *taken) {
  int64_t first = start == ND4C_SLICE_NONE ? (step > 0 ? 0 : extent - 1) : start < 0 ? start + extent : start;
  int64_t end = stop == ND4C_SLICE_NONE ? (step > 0 ? extent : -1) : stop < 0 ? stop + extent : stop;
  int64_t count = 0;
  if (stop != ND4C_SLICE_NONE && end < -1) {
    end = step > 0 ? 0 : -1;
  }
  if (step > 0 && first < 0) {
    first = 0;
  }
  if (step < 0 && first > extent - 1) {
    first = extent - 1;
  }
  for (int64_t i = first; i >= 0 && i < extent && (step > 0 ? i < end : i > end); i += step) {
    taken[count++] = i;
  }
  return count;
}

void cf_oracle_slice(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0];
  int32_t count = 0, axis_count = 0, step_count = 0;
  const int64_t *starts = cf_ints_of(c, "starts", &count), *stops = cf_ints_of(c, "stops", &count);
  const int64_t *axes = cf_ints_of(c, "axes", &axis_count), *steps = cf_ints_of(c, "steps", &step_count);
  int64_t taken[CF_RANK][16], shape[CF_RANK];
  for (int32_t axis = 0; axis < x->rank; axis++) {
    shape[axis] = walk_cut(ND4C_SLICE_NONE, ND4C_SLICE_NONE, 1, x->shape[axis], taken[axis]);
  }
  for (int32_t i = 0; i < count; i++) {
    int64_t axis = axis_count == 0 ? i : from_end(axes[i], x->rank);
    shape[axis] = walk_cut(starts[i], stops[i], step_count == 0 ? 1 : steps[i], x->shape[axis], taken[axis]);
  }
  cf_expect(expected, c->dtype, x->rank, shape, false);
  for (int64_t i = 0; i < expected->size; i++) {
    int64_t index[CF_RANK];
    split_index(x->rank, shape, i, index);
    for (int32_t axis = 0; axis < x->rank; axis++) {
      index[axis] = taken[axis][index[axis]];
    }
    expected->values[i] = cf_get(x, join_index(x->rank, x->shape, index));
  }
}

/* -- concat, gather --------------------------------------------------------------------------------------------- */

bool cf_sample_concat(cf_random *random, int32_t number, cf_case *c) {
  switch (number) {
    case 0:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(3));
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(4));
      cf_attr_int(c, "axis", 0);
      return true;
    case 1:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(2, 3, 4));
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(2, 1, 4));
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(2, 0, 4));
      cf_attr_int(c, "axis", -2);
      return true;
    case 2:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(2, 5, 3, 4));
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(2, 2, 3, 4));
      cf_attr_int(c, "axis", 1);
      return true;
    case 3:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(2, 3));
      cf_attr_int(c, "axis", 1);
      return true;
    case 4: {
      nd4c_dtype other = c->dtype == ND4C_FLOAT32 ? ND4C_FLOAT64 : ND4C_FLOAT32;
      if (cf_promote(c->dtype, other) != ND4C_DTYPE_NONE) {
        cf_filled(c, random, CF_POSITIVE, c->dtype, CF_SHAPE(2, 3));
        cf_filled(c, random, CF_POSITIVE, other, CF_SHAPE(2, 2));
        cf_attr_int(c, "axis", 1);
      }
      return true;
    }
    case 5: /* many short rows */
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(700, 3));
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(700, 0));
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(700, 5));
      cf_attr_int(c, "axis", 1);
      return true;
    case 6: /* rows that are not short */
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(2, 4100));
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(2, 1));
      cf_attr_int(c, "axis", 1);
      return true;
    default:
      return false;
  }
}

void cf_oracle_concat(const cf_case *c, cf_expected *expected) {
  int32_t rank = c->inputs[0].rank;
  int64_t axis = from_end(cf_int_of(c, "axis", 0), rank), shape[CF_RANK], before = 0;
  nd4c_dtype dtype = c->dtype;
  memcpy(shape, c->inputs[0].shape, sizeof shape);
  for (int32_t n = 1; n < c->input_count; n++) {
    shape[axis] += c->inputs[n].shape[axis];
    dtype = cf_promote(dtype, c->inputs[n].dtype);
  }
  cf_expect(expected, dtype, rank, shape, false);
  for (int32_t n = 0; n < c->input_count; n++) {
    const cf_tensor *x = &c->inputs[n];
    for (int64_t i = 0; i < x->size; i++) {
      int64_t index[CF_RANK];
      split_index(rank, x->shape, i, index);
      index[axis] += before;
      expected->values[join_index(rank, shape, index)] = cf_convert(cf_get(x, i), x->dtype, dtype);
    }
    before += x->shape[axis];
  }
}

static void indices(cf_case *c, cf_random *random, nd4c_dtype dtype, int64_t extent, int32_t rank,
                    const int64_t *shape) {
  cf_tensor *tensor = cf_input(c, dtype, rank, shape);
  for (int64_t i = 0; i < tensor->size; i++) {
    cf_set(tensor, i, (cf_value){.i = cf_between(random, -extent, extent - 1)});
  }
}

bool cf_sample_gather(cf_random *random, int32_t number, cf_case *c) {
  switch (number) {
    case 0:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(5));
      indices(c, random, ND4C_INT64, 5, CF_SHAPE(7));
      cf_attr_int(c, "axis", 0);
      return true;
    case 1:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(4, 3, 2));
      indices(c, random, ND4C_INT32, 3, CF_SHAPE(2, 5));
      cf_attr_int(c, "axis", 1);
      return true;
    case 2:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(4, 6));
      indices(c, random, ND4C_INT64, 6, CF_SCALAR);
      cf_attr_int(c, "axis", -1);
      return true;
    case 3:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(4, 6));
      indices(c, random, ND4C_INT64, 4, CF_SHAPE(0));
      cf_attr_int(c, "axis", 0);
      return true;
    case 4:
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(9, 33));
      indices(c, random, ND4C_INT64, 9, CF_SHAPE(12));
      return true;
    default:
      return false;
  }
}

void cf_oracle_gather(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0], *picks = &c->inputs[1];
  int64_t axis = from_end(cf_int_of(c, "axis", 0), x->rank), shape[CF_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    for (int32_t k = 0; i == axis && k < picks->rank; k++) {
      shape[rank++] = picks->shape[k];
    }
    if (i != axis) {
      shape[rank++] = x->shape[i];
    }
  }
  cf_expect(expected, c->dtype, rank, shape, false);
  for (int64_t i = 0; i < expected->size; i++) {
    int64_t to[CF_RANK], from[CF_RANK];
    split_index(rank, shape, i, to);
    int64_t pick = cf_get(picks, join_index(picks->rank, picks->shape, to + axis)).i;
    for (int32_t k = 0; k < x->rank; k++) {
      from[k] = k < axis ? to[k] : k == axis ? (pick < 0 ? pick + x->shape[axis] : pick) : to[k + picks->rank - 1];
    }
    expected->values[i] = cf_get(x, join_index(x->rank, x->shape, from));
  }
}
