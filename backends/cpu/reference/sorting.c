/* Engine reference: sorting, unique elements, sets. dispatch/choice.c asks these kernels last, after those of all other
 * engines. */
#include "kernels/reference/sorting/sorting.h"
#include "backends/cpu/reference/work.h"
#include "kernels/reference/sorting/sets.h"

/* -- nonzero ----------------------------------------------------------------------------------------------------- */

static nd4c_status nonzero_run(const nd4c_call *call) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0);
  int64_t count = nd4c_ref_count_nonzero(&x);
  nd4c_ref_nonzero(&x, count, call->outputs[0].data);
  call->true_shapes[0][0] = call->outputs[0].shape[0];
  call->true_shapes[0][1] = count;
  return ND4C_OK;
}

static nd4c_status argwhere_run(const nd4c_call *call) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0);
  call->true_shapes[0][0] = nd4c_ref_argwhere(&x, call->outputs[0].data);
  call->true_shapes[0][1] = x.rank;
  return ND4C_OK;
}

/* -- sorting along an axis --------------------------------------------------------------------------------------- */

typedef struct sort_call {
  nd4c_ref_tensor x, values, indices; /* without data: not wanted */
  nd4c_ref_axes to_values, to_indices;
  int64_t length, x_stride, value_stride, index_stride;
  int64_t first, taken; /* of the sorted line */
  bool descending;
  uint64_t *work; /* for each worker */
} sort_call;

enum { WORDS = ND4C_REF_SORT_WORDS + 1 }; /* a line's element, with its place in the order */

static void sort_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const sort_call *s = user;
  uint64_t *work = s->work + worker * s->length * WORDS;
  int64_t *order = (int64_t *)(void *)(work + ND4C_REF_SORT_WORDS * s->length);
  int64_t bytes = nd4c_reference_bytes(s->x.dtype);
  for (int64_t line = begin; line < end; line++) {
    int64_t from, to, index_to;
    nd4c_ref_axes_at(&s->to_values, line, &from, &to);
    nd4c_ref_argsort(s->x.dtype, s->x.data, from, s->x_stride, 1, s->length, s->descending, work, order);
    if (s->values.data != NULL) {
      nd4c_ref_permute_raw(bytes, s->x.data, from, s->x_stride, order + s->first, s->taken, s->values.data, to,
                           s->value_stride);
    }
    if (s->indices.data != NULL) {
      nd4c_ref_axes_at(&s->to_indices, line, &from, &index_to);
      nd4c_ref_write_raw(sizeof *order, s->indices.data, index_to, s->index_stride, s->taken, order + s->first);
    }
  }
}

/* All axes of x but one, with the strides of y, which has that axis, has it with length 1, or lacks it. */
static nd4c_ref_axes lines_to(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, int32_t axis) {
  nd4c_ref_axes axes = {.rank = 0};
  for (int32_t i = 0, place = 0; i < x->rank; i++) {
    if (i != axis) {
      axes.shape[axes.rank] = x->shape[i];
      axes.x[axes.rank] = x->strides[i];
      axes.y[axes.rank++] = y->data != NULL ? y->strides[place] : 0;
    }
    place += i != axis || y->rank == x->rank;
  }
  return axes;
}

/* Words for each of the workers that share out so many lines. */
static uint64_t *words_for(nd4c_cpu_work *work, int64_t lines, int64_t each) {
  int64_t workers = lines < work->call->width ? lines : work->call->width;
  return (uint64_t *)nd4c_cpu_work_make_integers(work, (workers > 1 ? workers : 1) * each);
}

static nd4c_status sort_lines(nd4c_cpu_work *work, int32_t axis, sort_call *s) {
  s->x = nd4c_cpu_ref_input(work->call, 0);
  s->to_values = lines_to(&s->x, &s->values, axis);
  s->to_indices = lines_to(&s->x, &s->indices, axis);
  s->length = s->x.shape[axis];
  s->x_stride = s->x.strides[axis];
  s->value_stride = s->values.data != NULL && s->values.rank == s->x.rank ? s->values.strides[axis] : 0;
  s->index_stride = s->indices.data != NULL && s->indices.rank == s->x.rank ? s->indices.strides[axis] : 0;
  int64_t lines = s->length == 0 || s->taken == 0 ? 0 : nd4c_ref_axes_size(&s->to_values);
  s->work = words_for(work, lines, s->length * WORDS);
  return nd4c_cpu_work_parallel(work, lines, s->length * 16, sort_range, s);
}

static int32_t sort_axis(const nd4c_call *call) {
  return nd4c_axis(ND4C_INT_OF(call, sort_axis), call->inputs[0].rank);
}

/* Sorts each line and stores the values, the indices or both of `taken` elements from number `first` on. taken -1: as
 * many as the output has. */
static nd4c_status sort_into(const nd4c_call *call, nd4c_cpu_work *work, int32_t values, int32_t indices,
                             bool descending, int64_t first, int64_t taken) {
  sort_call s = {.descending = descending, .first = first};
  s.values = values >= 0 ? nd4c_cpu_ref_output(call, values) : s.values;
  s.indices = indices >= 0 ? nd4c_cpu_ref_output(call, indices) : s.indices;
  s.taken = taken >= 0 ? taken : call->outputs[0].shape[sort_axis(call)];
  return sort_lines(work, sort_axis(call), &s);
}

/* -- sorting by several keys --------------------------------------------------------------------------------------- */

typedef struct lexsort_call {
  const nd4c_call *call;
  int32_t axis;
  int64_t length;
  uint64_t *work; /* for each worker */
} lexsort_call;

enum { LEXSORT_WORDS = ND4C_REF_SORT_WORDS + 4 }; /* a line's element: its key of 16 bytes, its place in two orders */

/* Sorts stably by each key in turn, the last key last. Each key is read in the order that the earlier keys gave. */
static void lexsort_line(const lexsort_call *c, int64_t line, uint64_t *work) {
  nd4c_ref_tensor y = nd4c_cpu_ref_output(c->call, 0);
  int64_t n = c->length, from, to = 0;
  int64_t *order = (int64_t *)(void *)(work + ND4C_REF_SORT_WORDS * n), *step = order + n;
  char *key = (char *)(step + n);
  for (int64_t i = 0; i < n; i++) {
    order[i] = i;
  }
  for (int32_t k = 0; k < c->call->input_count; k++) {
    nd4c_ref_tensor x = nd4c_cpu_ref_input(c->call, k);
    nd4c_ref_axes lines = nd4c_ref_axes_without(&x, &y, c->axis);
    nd4c_ref_axes_at(&lines, line, &from, &to);
    nd4c_ref_permute_raw(nd4c_reference_bytes(x.dtype), x.data, from, x.strides[c->axis], order, n, key, 0, 1);
    nd4c_ref_argsort(x.dtype, key, 0, 1, 1, n, false, work, step);
    for (int64_t i = 0; i < n; i++) {
      step[i] = order[step[i]];
    }
    memcpy(order, step, (size_t)n * sizeof *order);
  }
  nd4c_ref_write_raw(sizeof *order, y.data, to, y.strides[c->axis], n, order);
}

static void lexsort_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const lexsort_call *c = user;
  for (int64_t line = begin; line < end; line++) {
    lexsort_line(c, line, c->work + worker * c->length * LEXSORT_WORDS);
  }
}

static nd4c_status lexsort(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *y = &call->outputs[0];
  lexsort_call c = {.call = call, .axis = nd4c_axis(ND4C_INT_OF(call, lexsort_axis), y->rank)};
  c.length = y->shape[c.axis];
  int64_t lines = y->size > 0 ? y->size / c.length : 0;
  c.work = words_for(work, lines, c.length * LEXSORT_WORDS);
  return nd4c_cpu_work_parallel(work, lines, c.length * 16 * call->input_count, lexsort_range, &c);
}

/* -- different elements ------------------------------------------------------------------------------------------ */

/* The elements of one or two tensors, one after the other in C order, as rows of `columns`. */
static nd4c_status find_distinct(nd4c_cpu_work *work, const nd4c_ref_tensor *parts, int part_count, int64_t columns,
                                 int64_t count, bool sorted, nd4c_ref_distinct *d) {
  int64_t **lists[5] = {&d->order, &d->groups, &d->first, &d->counts, &d->last};
  char *data = (char *)nd4c_cpu_work_make_integers(work, 2 * columns * count);
  uint64_t *words = (uint64_t *)nd4c_cpu_work_make_integers(work, ND4C_REF_SORT_WORDS * count);
  *d = (nd4c_ref_distinct){.dtype = parts[0].dtype, .columns = columns, .count = count, .data = data};
  for (int i = 0; i < 5; i++) {
    *lists[i] = nd4c_cpu_work_make_integers(work, count);
  }
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  for (int part = 0; part < part_count; part++) {
    nd4c_ref_flatten(&parts[part], data);
    data += nd4c_ref_size(&parts[part]) * nd4c_reference_bytes(parts[part].dtype);
  }
  nd4c_ref_find_distinct(d, sorted, words);
  return ND4C_OK;
}

/* The different rows, with `outer` rows of x's elements between which the axis stands; C order. */
static void write_rows(const nd4c_ref_distinct *d, int64_t inner, char *y) {
  int64_t bytes = nd4c_reference_bytes(d->dtype), outer = inner > 0 ? d->columns / inner : 0;
  for (int64_t g = 0; g < d->group_count; g++) {
    const char *row = d->data + d->first[g] * d->columns * bytes;
    for (int64_t o = 0; o < outer; o++) {
      memcpy(y + (o * d->group_count + g) * inner * bytes, row + o * inner * bytes, (size_t)(inner * bytes));
    }
  }
}

/* Number of the different element for each of x's, into an output of any strides. */
static void write_inverse(const nd4c_ref_distinct *d, const nd4c_tensor *output) {
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(output);
  int64_t *to = output->data;
  for (int64_t i = 0; i < d->count; i++) {
    to[nd4c_ref_offset(&y, y.rank, y.shape, d->order[i])] = d->groups[i];
  }
}

static void write_list(const nd4c_call *call, int32_t output, const nd4c_ref_distinct *d, const int64_t *list) {
  memcpy(call->outputs[output].data, list, (size_t)d->group_count * sizeof *list);
  call->true_shapes[output][0] = d->group_count;
}

/* Positions of the outputs, -1 for those that the op does not have. */
static nd4c_status unique_flat(const nd4c_call *call, nd4c_cpu_work *work, bool sorted, int indices, int inverse,
                               int counts) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0);
  nd4c_ref_distinct d;
  ND4C_BACKEND_TRY(find_distinct(work, &x, 1, 1, call->inputs[0].size, sorted, &d));
  write_rows(&d, 1, call->outputs[0].data);
  call->true_shapes[0][0] = d.group_count;
  if (indices > 0) {
    write_list(call, indices, &d, d.first);
  }
  if (inverse > 0) {
    write_inverse(&d, &call->outputs[inverse]);
  }
  if (counts > 0) {
    write_list(call, counts, &d, d.counts);
  }
  return ND4C_OK;
}

/* Moves the axis to the front, so that slices along it are rows. */
static nd4c_status unique_slices(const nd4c_call *call, nd4c_cpu_work *work, int32_t axis, bool sorted) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0);
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK], columns = 1, inner = 1;
  nd4c_ref_tensor turned = {x.dtype, x.rank, shape, strides, x.data};
  for (int32_t i = 0; i < x.rank; i++) {
    int32_t from = i == 0 ? axis : i <= axis ? i - 1 : i;
    shape[i] = x.shape[from];
    strides[i] = x.strides[from];
    columns *= i > 0 ? shape[i] : 1;
    inner *= i > axis ? x.shape[i] : 1;
  }
  nd4c_ref_distinct d;
  ND4C_BACKEND_TRY(find_distinct(work, &turned, 1, columns, x.shape[axis], sorted, &d));
  write_rows(&d, inner, call->outputs[0].data);
  for (int32_t i = 0; i < x.rank; i++) {
    call->true_shapes[0][i] = i == axis ? d.group_count : x.shape[i];
  }
  write_list(call, 1, &d, d.first);
  write_inverse(&d, &call->outputs[2]);
  write_list(call, 3, &d, d.counts);
  return ND4C_OK;
}

static nd4c_status unique(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_attr_value *axis = &call->attrs[ND4C_ATTR_unique_axis];
  bool sorted = ND4C_FLAG_OF(call, unique_sorted);
  return axis->count == 0 ? unique_flat(call, work, sorted, 1, 2, 3)
                          : unique_slices(call, work, nd4c_axis(axis->as.ints[0], call->inputs[0].rank), sorted);
}

/* -- sets -------------------------------------------------------------------------------------------------------- */

/* The elements of the first two inputs. */
static nd4c_status distinct_of_both(const nd4c_call *call, nd4c_cpu_work *work, nd4c_ref_distinct *d) {
  nd4c_ref_tensor parts[2] = {nd4c_cpu_ref_input(call, 0), nd4c_cpu_ref_input(call, 1)};
  return find_distinct(work, parts, 2, 1, call->inputs[0].size + call->inputs[1].size, true, d);
}

/* Bit 1: elements of a alone, bit 2: of b alone, bit 4: of both. */
static nd4c_status set_operation(const nd4c_call *call, nd4c_cpu_work *work, int wanted) {
  int64_t a_size = call->inputs[0].size, bytes = nd4c_cpu_dtype_bytes(call->inputs[0].dtype), written = 0;
  nd4c_ref_distinct d;
  ND4C_BACKEND_TRY(distinct_of_both(call, work, &d));
  for (int64_t g = 0; g < d.group_count; g++) {
    bool in_a = d.first[g] < a_size, in_b = d.last[g] >= a_size;
    if (wanted & (in_a && in_b ? 4 : in_a ? 1 : 2)) {
      memcpy((char *)call->outputs[0].data + written++ * bytes, d.data + d.first[g] * bytes, (size_t)bytes);
    }
  }
  call->true_shapes[0][0] = written;
  return ND4C_OK;
}

static nd4c_status isin(const nd4c_call *call, nd4c_cpu_work *work) {
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0);
  int64_t a_size = call->inputs[0].size;
  nd4c_ref_distinct d;
  ND4C_BACKEND_TRY(distinct_of_both(call, work, &d));
  for (int64_t i = 0; i < d.count; i++) {
    bool found = d.last[d.groups[i]] >= a_size;
    if (d.order[i] < a_size) {
      y.data[nd4c_ref_offset(&y, y.rank, y.shape, d.order[i])] = found != ND4C_FLAG_OF(call, isin_invert);
    }
  }
  return ND4C_OK;
}

/* -- list -------------------------------------------------------------------------------------------------------- */

#define A ND4C_CPU_ALL
/* X(op, dtypes, expression) */
#define OPS(X)                                                                                               \
  X(sort, A, sort_into(call, work, 0, -1, ND4C_FLAG_OF(call, sort_descending), 0, -1))                       \
  X(argsort, A, sort_into(call, work, -1, 0, ND4C_FLAG_OF(call, argsort_descending), 0, -1))                 \
  X(top_k, A, sort_into(call, work, 0, 1, ND4C_FLAG_OF(call, top_k_largest), 0, ND4C_INT_OF(call, top_k_k))) \
  X(kth_value, A, sort_into(call, work, 0, 1, false, ND4C_INT_OF(call, kth_value_k), 1))                     \
  X(lexsort, A, lexsort(call, work))                                                                         \
  X(unique_all, A, unique_flat(call, work, true, 1, 2, 3))                                                   \
  X(unique_counts, A, unique_flat(call, work, true, -1, -1, 1))                                              \
  X(unique_inverse, A, unique_flat(call, work, true, -1, 1, -1))                                             \
  X(unique_values, A, unique_flat(call, work, true, -1, -1, -1))                                             \
  X(unique, A, unique(call, work))                                                                           \
  X(union1d, A, set_operation(call, work, 7))                                                                \
  X(intersect1d, A, set_operation(call, work, 4))                                                            \
  X(setdiff1d, A, set_operation(call, work, 1))                                                              \
  X(setxor1d, A, set_operation(call, work, 3))                                                               \
  X(isin, A, isin(call, work))
OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_sorting_kernels[] = {
    OPS(ND4C_CPU_WORK_ROW) ND4C_CPU_REFERENCE_KERNEL(nonzero, A, nonzero_run),
    ND4C_CPU_REFERENCE_KERNEL(argwhere, A, argwhere_run), NULL};
