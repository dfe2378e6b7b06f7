/* Different elements and sets: keys are sorted, and the first of each run of equal ones gets a number. The device
 * counts the results, and only that number is read back. dispatch/choice.c asks these kernels for arrays on OpenCL
 * devices. */
#include "backends/opencl/support/ordering.h"

/* Rows of keys and what is found of them: lists in scratch, by their word offsets. */
typedef struct distinct {
  int64_t count, columns;
  nd4c_cl_sorting sorting;
  nd4c_cl_selection heads;     /* of runs of equal rows in sorted order; chosen: where groups begin, ranks: groups */
  int64_t first, last, counts; /* of each group: places of its first and last row, how many it has */
  int64_t group_of;            /* the group of each row */
  nd4c_cl_selection marks;     /* among rows, or among groups */
  int64_t numbered[4];         /* lists under other numbers */
  int64_t words, groups;
} distinct;

static void lay_out(distinct *d, int64_t count, int64_t columns) {
  int64_t numbers = nd4c_cl_words_of_numbers(count);
  *d = (distinct){.count = count, .columns = columns};
  int64_t at = nd4c_cl_sorting_make(&d->sorting, 0, 1, count);
  if (columns != 1) { /* rows of keys come after the lists; the sorting's own keys are not used */
    d->sorting.keys = at;
    at += count * columns;
  }
  at = nd4c_cl_selection_make(&d->heads, at, count);
  at = nd4c_cl_selection_make(&d->marks, at, count);
  int64_t *const lists[] = {&d->first,       &d->last,        &d->counts,      &d->group_of,
                            &d->numbered[0], &d->numbered[1], &d->numbered[2], &d->numbered[3]};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    *lists[i] = at;
    at += numbers;
  }
  d->words = at;
}

static int64_t scratch_for(int64_t count, int64_t columns) {
  distinct d;
  lay_out(&d, count, columns);
  return d.words * ND4C_CL_WORD;
}

static nd4c_status check(const nd4c_cl_step *step, const distinct *d) {
  int64_t elements = d->count * (d->columns > 0 ? d->columns : 1);
  return nd4c_cl_sorting_check(step, elements, d->words * ND4C_CL_WORD);
}

/* Marks where groups begin, then numbers and describes them. */
static nd4c_status find_groups(const nd4c_call *call, distinct *d, nd4c_dtype dtype) {
  uint64_t nan_key;
  bool has_nan = nd4c_cl_nan_key(dtype, &nan_key);
  ND4C_BACKEND_TRY(d->columns == 1
                       ? ND4C_CL_RUN_ORDER(call, "find_heads", d->count, ND4C_CL_LONG(d->sorting.keys),
                                           ND4C_CL_INT(has_nan), ND4C_CL_LONG((int64_t)nan_key, d->heads.flags))
                       : ND4C_CL_RUN_ORDER(call, "find_row_heads", d->count,
                                           ND4C_CL_LONG(d->sorting.keys, d->columns, d->sorting.order),
                                           ND4C_CL_INT(has_nan), ND4C_CL_LONG((int64_t)nan_key, d->heads.flags)));
  ND4C_BACKEND_TRY(nd4c_cl_select(call, &d->heads, &d->groups));
  ND4C_BACKEND_TRY(ND4C_CL_RUN_ORDER(
      call, "describe_groups", d->groups,
      ND4C_CL_LONG(d->sorting.order, d->heads.chosen, d->groups, d->count, d->first, d->last, d->counts)));
  return ND4C_CL_RUN_ORDER(call, "find_inverse", d->count, ND4C_CL_LONG(d->sorting.order, d->heads.ranks, d->group_of));
}

/* All lists have room for as many numbers as there are rows. */
static nd4c_status look_up(const nd4c_call *call, const distinct *d, int64_t list, int64_t places, int64_t to,
                           int64_t count) {
  return ND4C_CL_RUN_ORDER(call, "look_up", count, ND4C_CL_LONG(list, places, to, d->count));
}

/* Groups numbered in the order of their first rows: those are marked among all rows and numbered there. */
static nd4c_status renumber(const nd4c_call *call, distinct *d) {
  const uint8_t unmarked = 0;
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, d->marks.flags * ND4C_CL_WORD, d->count, &unmarked, 1));
  ND4C_BACKEND_TRY(ND4C_CL_RUN_ORDER(call, "mark_firsts", d->groups, ND4C_CL_LONG(d->first, d->marks.flags, d->count)));
  ND4C_BACKEND_TRY(nd4c_cl_select(call, &d->marks, NULL));
  /* numbered[0]: the old group of each first row (marks.chosen); [1]: its count; [2]: the first row of each row's
   * group; [3]: the new group of each row. */
  ND4C_BACKEND_TRY(look_up(call, d, d->group_of, d->marks.chosen, d->numbered[0], d->groups));
  ND4C_BACKEND_TRY(look_up(call, d, d->counts, d->numbered[0], d->numbered[1], d->groups));
  ND4C_BACKEND_TRY(look_up(call, d, d->first, d->group_of, d->numbered[2], d->count));
  ND4C_BACKEND_TRY(look_up(call, d, d->marks.ranks, d->numbered[2], d->numbered[3], d->count));
  d->first = d->marks.chosen;
  d->counts = d->numbered[1];
  d->group_of = d->numbered[3];
  return ND4C_OK;
}

/* A list of one number a group as a 1-D output. */
static nd4c_status write_list(const nd4c_cl_step *step, int32_t output, int64_t list, int64_t groups) {
  const int64_t one = 1;
  nd4c_tensor y = step->call->outputs[output];
  y.rank = 1;
  y.shape = &groups;
  y.strides = &one;
  step->call->true_shapes[output][0] = groups;
  return nd4c_cl_write_numbers(step, list, 0, &y, &one);
}

/* The group of each of x's elements, into an output of any strides. */
static nd4c_status write_inverse(const nd4c_cl_step *step, int32_t output, int64_t list) {
  const nd4c_tensor *y = &step->call->outputs[output];
  int64_t places[ND4C_CL_MAX_RANK];
  nd4c_dense_strides(y->rank, y->shape, places);
  return nd4c_cl_write_numbers(step, list, 0, y, places);
}

/* -- unique elements ----------------------------------------------------------------------------------------------- */

/* Positions of outputs, -1 for those that the op does not have. */
typedef struct outputs {
  int32_t indices, inverse, counts;
} outputs;

/* Makes keys of x as one line of elements in C order. */
static nd4c_status flat_keys(const nd4c_cl_step *step, const nd4c_tensor *x, int64_t begin, const distinct *d) {
  return nd4c_cl_make_keys(step, x, -1, false, false, begin, &d->sorting);
}

static nd4c_status row_keys(const nd4c_cl_step *step, int32_t axis, const distinct *d) {
  const nd4c_tensor *x = &step->call->inputs[0];
  int64_t shape[ND4C_CL_MAX_RANK], strides[ND4C_CL_MAX_RANK];
  const int64_t *walked = strides;
  nd4c_cl_walk walk;
  for (int32_t i = 0; i < x->rank; i++) {
    int32_t from = i == 0 ? axis : i <= axis ? i - 1 : i;
    shape[i] = x->shape[from];
    strides[i] = x->strides[from];
  }
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, x->rank, shape, 1, &walked));
  return ND4C_CL_STEP_TYPED(step, "places+keys", "make_row_keys", x->dtype, walk.size, ND4C_CL_IN(x),
                            ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(d->sorting.keys), ND4C_CL_VALUE(walk));
}

static void lay_out_unique(distinct *d, const nd4c_tensor *x, int32_t axis) {
  int64_t count = axis < 0 ? x->size : x->shape[axis], columns = 1;
  for (int32_t i = 0; axis >= 0 && i < x->rank; i++) {
    columns *= i == axis ? 1 : x->shape[i];
  }
  lay_out(d, count, columns);
}

static nd4c_status unique_of(const nd4c_cl_step *step, int32_t axis, bool sorted, outputs o) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0];
  distinct d;
  lay_out_unique(&d, x, axis);
  bool flat = d.columns == 1;
  if (nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(check(step, &d));
  }
  ND4C_BACKEND_TRY(flat ? flat_keys(step, x, 0, &d) : row_keys(step, axis, &d));
  d.groups = d.count;
  if (!nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(flat ? nd4c_cl_sort(call, &d.sorting) : nd4c_cl_sort_rows(call, &d.sorting, d.columns));
    ND4C_BACKEND_TRY(find_groups(call, &d, x->dtype));
    ND4C_BACKEND_TRY(sorted ? ND4C_OK : renumber(call, &d));
  }
  ND4C_BACKEND_TRY(nd4c_cl_take_slices(step, x, axis < 0 ? 0 : axis, axis < 0 ? x->rank : 1, d.first, d.groups));
  ND4C_BACKEND_TRY(o.inverse > 0 ? write_inverse(step, o.inverse, d.group_of) : ND4C_OK);
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(o.indices > 0 ? write_list(step, o.indices, d.first, d.groups) : ND4C_OK);
  return o.counts > 0 ? write_list(step, o.counts, d.counts, d.groups) : ND4C_OK;
}

static int32_t unique_axis(const nd4c_call *call) {
  const nd4c_attr_value *axis = &call->attrs[ND4C_ATTR_unique_axis];
  return axis->count == 0 ? -1 : nd4c_axis(axis->as.ints[0], call->inputs[0].rank);
}

static int64_t flat_scratch(const nd4c_call *call) {
  return scratch_for(call->inputs[0].size, 1);
}

static int64_t unique_scratch(const nd4c_call *call) {
  distinct d;
  lay_out_unique(&d, &call->inputs[0], unique_axis(call));
  return d.words * ND4C_CL_WORD;
}

/* -- sets ---------------------------------------------------------------------------------------------------------- */

static int64_t pair_scratch(const nd4c_call *call) {
  return scratch_for(call->inputs[0].size + call->inputs[1].size, 1);
}

/* The different elements of a and b, a's numbers before b's. */
static nd4c_status find_in_both(const nd4c_cl_step *step, distinct *d) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1];
  lay_out(d, a->size + b->size, 1);
  if (nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(check(step, d));
  }
  ND4C_BACKEND_TRY(flat_keys(step, a, 0, d));
  ND4C_BACKEND_TRY(flat_keys(step, b, a->size, d));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(nd4c_cl_sort(call, &d->sorting));
  return find_groups(call, d, a->dtype);
}

static nd4c_status take_either(const nd4c_cl_step *step, int64_t list, int64_t count) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1];
  nd4c_cl_walk a_walk, b_walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &a_walk, a));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &b_walk, b));
  return ND4C_CL_STEP_UNITS(step, "places+move", "take_either", a->dtype, count, ND4C_CL_IN(a), ND4C_CL_IN(b),
                            ND4C_CL_OUT(&call->outputs[0]), ND4C_CL_SCRATCH(READ), ND4C_CL_LONG(list * 2),
                            ND4C_CL_VALUE(a_walk), ND4C_CL_VALUE(b_walk));
}

/* Bit 1: elements of a alone, bit 2: of b alone, bit 4: of both. */
static nd4c_status set_operation(const nd4c_cl_step *step, int32_t wanted) {
  const nd4c_call *call = step->call;
  distinct d;
  int64_t total = 0;
  ND4C_BACKEND_TRY(find_in_both(step, &d));
  if (!nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(ND4C_CL_RUN_ORDER(call, "find_wanted", d.groups,
                                       ND4C_CL_LONG(d.first, d.last, call->inputs[0].size), ND4C_CL_INT(wanted),
                                       ND4C_CL_LONG(d.marks.flags)));
    d.marks.count = d.groups;
    ND4C_BACKEND_TRY(nd4c_cl_select(call, &d.marks, &total));
    ND4C_BACKEND_TRY(look_up(call, &d, d.first, d.marks.chosen, d.numbered[0], total));
    call->true_shapes[0][0] = total;
  }
  return take_either(step, d.numbered[0], total);
}

static nd4c_status isin(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_cl_walk walk;
  distinct d;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &walk, y));
  ND4C_BACKEND_TRY(find_in_both(step, &d));
  return ND4C_CL_STEP_ORDER(step, "write_membership", walk.size,
                            ND4C_CL_LONG(d.group_of, d.last, d.count, call->inputs[0].size),
                            ND4C_CL_INT(ND4C_FLAG_OF(call, isin_invert)), ND4C_CL_OUT(y), ND4C_CL_VALUE(walk));
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define OPS(X)                                                                                                     \
  X(unique_all, unique_of(step, -1, true, (outputs){1, 2, 3}), flat_scratch)                                       \
  X(unique_counts, unique_of(step, -1, true, (outputs){-1, -1, 1}), flat_scratch)                                  \
  X(unique_inverse, unique_of(step, -1, true, (outputs){-1, 1, -1}), flat_scratch)                                 \
  X(unique_values, unique_of(step, -1, true, (outputs){-1, -1, -1}), flat_scratch)                                 \
  X(unique, unique_of(step, unique_axis(step->call), ND4C_FLAG_OF(step->call, unique_sorted), (outputs){1, 2, 3}), \
    unique_scratch)                                                                                                \
  X(union1d, set_operation(step, 7), pair_scratch)                                                                 \
  X(intersect1d, set_operation(step, 4), pair_scratch)                                                             \
  X(setdiff1d, set_operation(step, 1), pair_scratch)                                                               \
  X(setxor1d, set_operation(step, 3), pair_scratch)                                                                \
  X(isin, isin(step), pair_scratch)
#define DEFINE_KERNEL(op, what, scratch) ND4C_CL_STEP_KERNEL(op, ND4C_CL_ALL, what, scratch)
OPS(DEFINE_KERNEL)

const nd4c_kernel *const nd4c_cl_sorting_sets_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
