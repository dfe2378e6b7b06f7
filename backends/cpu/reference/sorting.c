/* Engine reference: sorting, unique elements, sets. */
#include "backends/cpu/reference/reference.h"
#include "kernels/reference/sorting/sorting.h"
#include "kernels/reference/sorting/sets.h"

/* -- nonzero ----------------------------------------------------------------------------------------------------- */

static nd4c_status run_nonzero(const nd4c_call *call) {
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(&call->inputs[0]);
  int64_t count = nd4c_ref_count_nonzero(&x);
  nd4c_ref_nonzero(&x, count, call->outputs[0].data);
  call->true_shapes[0][0] = call->outputs[0].shape[0];
  call->true_shapes[0][1] = count;
  return ND4C_OK;
}

static nd4c_status run_argwhere(const nd4c_call *call) {
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(&call->inputs[0]);
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

static nd4c_status sort_lines(const nd4c_call *call, int32_t axis, sort_call *s) {
  s->x = nd4c_cpu_ref_tensor(&call->inputs[0]);
  s->to_values = lines_to(&s->x, &s->values, axis);
  s->to_indices = lines_to(&s->x, &s->indices, axis);
  s->length = s->x.shape[axis];
  s->x_stride = s->x.strides[axis];
  s->value_stride = s->values.data != NULL && s->values.rank == s->x.rank ? s->values.strides[axis] : 0;
  s->index_stride = s->indices.data != NULL && s->indices.rank == s->x.rank ? s->indices.strides[axis] : 0;
  int64_t lines = nd4c_ref_axes_size(&s->to_values);
  int32_t width = lines < call->width ? (int32_t)lines : call->width;
  size_t bytes = (size_t)s->length * WORDS * sizeof *s->work * (size_t)(width > 1 ? width : 1);
  if (lines == 0 || s->length == 0 || s->taken == 0) {
    return ND4C_OK;
  }
  s->work = nd4c_cpu_host->allocate_pages(bytes);
  if (s->work == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "no memory for %zu bytes to sort in", bytes);
  }
  nd4c_cpu_parallel(lines, nd4c_cpu_grain(s->length * 16), width, sort_range, s);
  nd4c_cpu_host->free_pages(s->work, bytes);
  return ND4C_OK;
}

static int32_t sort_axis(const nd4c_call *call) {
  return nd4c_axis(call->attrs[ND4C_ATTR_sort_axis].as.i, call->inputs[0].rank);
}

static nd4c_status run_sort(const nd4c_call *call) {
  sort_call s = {.values = nd4c_cpu_ref_tensor(&call->outputs[0]),
                 .descending = call->attrs[ND4C_ATTR_sort_descending].as.i != 0};
  s.taken = s.values.shape[sort_axis(call)];
  return sort_lines(call, sort_axis(call), &s);
}

static nd4c_status run_argsort(const nd4c_call *call) {
  sort_call s = {.indices = nd4c_cpu_ref_tensor(&call->outputs[0]),
                 .descending = call->attrs[ND4C_ATTR_argsort_descending].as.i != 0};
  s.taken = s.indices.shape[sort_axis(call)];
  return sort_lines(call, sort_axis(call), &s);
}

static nd4c_status run_top_k(const nd4c_call *call) {
  sort_call s = {.values = nd4c_cpu_ref_tensor(&call->outputs[0]),
                 .indices = nd4c_cpu_ref_tensor(&call->outputs[1]),
                 .descending = call->attrs[ND4C_ATTR_top_k_largest].as.i != 0,
                 .taken = call->attrs[ND4C_ATTR_top_k_k].as.i};
  return sort_lines(call, sort_axis(call), &s);
}

static nd4c_status run_kth_value(const nd4c_call *call) {
  sort_call s = {.values = nd4c_cpu_ref_tensor(&call->outputs[0]),
                 .indices = nd4c_cpu_ref_tensor(&call->outputs[1]),
                 .first = call->attrs[ND4C_ATTR_kth_value_k].as.i,
                 .taken = 1};
  return sort_lines(call, sort_axis(call), &s);
}

/* -- sorting by several keys --------------------------------------------------------------------------------------- */

typedef struct lexsort_call {
  const nd4c_call *call;
  int32_t axis;
  int64_t length;
  uint64_t *work; /* for each worker */
} lexsort_call;

enum { LEXSORT_WORDS = ND4C_REF_SORT_WORDS + 4 }; /* a line's element: its key of 16 bytes, its place in two orders */

/* Stably by one key after the other, the last one at last, each read in the order so far. */
static void lexsort_line(const lexsort_call *c, int64_t line, uint64_t *work) {
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&c->call->outputs[0]);
  int64_t n = c->length, from, to = 0;
  int64_t *order = (int64_t *)(void *)(work + ND4C_REF_SORT_WORDS * n), *step = order + n;
  char *key = (char *)(step + n);
  for (int64_t i = 0; i < n; i++) {
    order[i] = i;
  }
  for (int32_t k = 0; k < c->call->input_count; k++) {
    nd4c_ref_tensor x = nd4c_cpu_ref_tensor(&c->call->inputs[k]);
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

static nd4c_status run_lexsort(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  lexsort_call c = {.call = call, .axis = nd4c_axis(call->attrs[ND4C_ATTR_lexsort_axis].as.i, y->rank)};
  c.length = y->shape[c.axis];
  if (y->size == 0) {
    return ND4C_OK;
  }
  int64_t lines = y->size / c.length;
  int32_t width = lines < call->width ? (int32_t)lines : call->width;
  size_t bytes = (size_t)c.length * LEXSORT_WORDS * sizeof *c.work * (size_t)(width > 1 ? width : 1);
  c.work = nd4c_cpu_host->allocate_pages(bytes);
  if (c.work == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "no memory for %zu bytes to sort in", bytes);
  }
  nd4c_cpu_parallel(lines, nd4c_cpu_grain(c.length * 16 * call->input_count), width, lexsort_range, &c);
  nd4c_cpu_host->free_pages(c.work, bytes);
  return ND4C_OK;
}

/* -- different elements ------------------------------------------------------------------------------------------ */

enum { DISTINCT_WORDS = ND4C_REF_SORT_WORDS + 5, ALIGNMENT = 16 };

/* Rows and lists in one block of memory. */
typedef struct distinct_block {
  nd4c_ref_distinct d;
  char *memory;
  size_t bytes;
} distinct_block;

/* The elements of one or two tensors, one after the other in C order, as rows of `columns`. */
static nd4c_status find_distinct(const nd4c_ref_tensor *parts, int part_count, int64_t columns, int64_t count,
                                 bool sorted, distinct_block *block) {
  nd4c_ref_distinct *d = &block->d;
  int64_t element = nd4c_reference_bytes(parts[0].dtype), sizes[2] = {1, 1};
  *block = (distinct_block){.d = {.dtype = parts[0].dtype, .columns = columns, .count = count}};
  size_t data_bytes = ((size_t)(columns * count * element) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  block->bytes = data_bytes + (size_t)count * DISTINCT_WORDS * sizeof(uint64_t) + ALIGNMENT;
  block->memory = nd4c_cpu_host->allocate_pages(block->bytes);
  if (block->memory == NULL) {
    return nd4c_cpu_host->fail(ND4C_MEMORY, "no memory for %zu bytes to sort in", block->bytes);
  }
  for (int part = 0; part < part_count; part++) {
    for (int32_t axis = 0; axis < parts[part].rank; axis++) {
      sizes[part] *= parts[part].shape[axis];
    }
    nd4c_ref_flatten(&parts[part], block->memory + (part > 0 ? sizes[0] * element : 0));
  }
  uint64_t *words = (uint64_t *)(void *)(block->memory + data_bytes);
  int64_t **lists[5] = {&d->order, &d->groups, &d->first, &d->counts, &d->last};
  for (int i = 0; i < 5; i++) {
    *lists[i] = (int64_t *)(void *)(words + (ND4C_REF_SORT_WORDS + i) * count);
  }
  d->data = block->memory;
  nd4c_ref_find_distinct(d, sorted, words);
  return ND4C_OK;
}

static void free_distinct(distinct_block *block) {
  nd4c_cpu_host->free_pages(block->memory, block->bytes);
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
static nd4c_status unique_flat(const nd4c_call *call, bool sorted, int indices, int inverse, int counts) {
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(&call->inputs[0]);
  distinct_block block;
  ND4C_BACKEND_TRY(find_distinct(&x, 1, 1, call->inputs[0].size, sorted, &block));
  write_rows(&block.d, 1, call->outputs[0].data);
  call->true_shapes[0][0] = block.d.group_count;
  if (indices > 0) {
    write_list(call, indices, &block.d, block.d.first);
  }
  if (inverse > 0) {
    write_inverse(&block.d, &call->outputs[inverse]);
  }
  if (counts > 0) {
    write_list(call, counts, &block.d, block.d.counts);
  }
  free_distinct(&block);
  return ND4C_OK;
}

static nd4c_status run_unique_all(const nd4c_call *call) {
  return unique_flat(call, true, 1, 2, 3);
}

static nd4c_status run_unique_counts(const nd4c_call *call) {
  return unique_flat(call, true, -1, -1, 1);
}

static nd4c_status run_unique_inverse(const nd4c_call *call) {
  return unique_flat(call, true, -1, 1, -1);
}

static nd4c_status run_unique_values(const nd4c_call *call) {
  return unique_flat(call, true, -1, -1, -1);
}

/* Slices along an axis are rows once that axis stands first. */
static nd4c_status unique_slices(const nd4c_call *call, int32_t axis, bool sorted) {
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(&call->inputs[0]);
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK], columns = 1, inner = 1;
  nd4c_ref_tensor turned = {x.dtype, x.rank, shape, strides, x.data};
  for (int32_t i = 0; i < x.rank; i++) {
    int32_t from = i == 0 ? axis : i <= axis ? i - 1 : i;
    shape[i] = x.shape[from];
    strides[i] = x.strides[from];
    columns *= i > 0 ? shape[i] : 1;
    inner *= i > axis ? x.shape[i] : 1;
  }
  distinct_block block;
  ND4C_BACKEND_TRY(find_distinct(&turned, 1, columns, x.shape[axis], sorted, &block));
  write_rows(&block.d, inner, call->outputs[0].data);
  for (int32_t i = 0; i < x.rank; i++) {
    call->true_shapes[0][i] = i == axis ? block.d.group_count : x.shape[i];
  }
  write_list(call, 1, &block.d, block.d.first);
  write_inverse(&block.d, &call->outputs[2]);
  write_list(call, 3, &block.d, block.d.counts);
  free_distinct(&block);
  return ND4C_OK;
}

static nd4c_status run_unique(const nd4c_call *call) {
  const nd4c_attr_value *axis = &call->attrs[ND4C_ATTR_unique_axis];
  bool sorted = call->attrs[ND4C_ATTR_unique_sorted].as.i != 0;
  return axis->count == 0 ? unique_flat(call, sorted, 1, 2, 3)
                          : unique_slices(call, nd4c_axis(axis->as.ints[0], call->inputs[0].rank), sorted);
}

/* -- sets -------------------------------------------------------------------------------------------------------- */

/* Bit 1: elements of a alone, bit 2: of b alone, bit 4: of both. */
static nd4c_status set_operation(const nd4c_call *call, int wanted) {
  nd4c_ref_tensor parts[2] = {nd4c_cpu_ref_tensor(&call->inputs[0]), nd4c_cpu_ref_tensor(&call->inputs[1])};
  int64_t a_size = call->inputs[0].size, bytes = nd4c_reference_bytes(parts[0].dtype), written = 0;
  distinct_block block;
  ND4C_BACKEND_TRY(find_distinct(parts, 2, 1, a_size + call->inputs[1].size, true, &block));
  const nd4c_ref_distinct *d = &block.d;
  for (int64_t g = 0; g < d->group_count; g++) {
    bool in_a = d->first[g] < a_size, in_b = d->last[g] >= a_size;
    if (wanted & (in_a && in_b ? 4 : in_a ? 1 : 2)) {
      memcpy((char *)call->outputs[0].data + written++ * bytes, d->data + d->first[g] * bytes, (size_t)bytes);
    }
  }
  call->true_shapes[0][0] = written;
  free_distinct(&block);
  return ND4C_OK;
}

static nd4c_status run_union1d(const nd4c_call *call) {
  return set_operation(call, 7);
}

static nd4c_status run_intersect1d(const nd4c_call *call) {
  return set_operation(call, 4);
}

static nd4c_status run_setdiff1d(const nd4c_call *call) {
  return set_operation(call, 1);
}

static nd4c_status run_setxor1d(const nd4c_call *call) {
  return set_operation(call, 3);
}

static nd4c_status run_isin(const nd4c_call *call) {
  nd4c_ref_tensor parts[2] = {nd4c_cpu_ref_tensor(&call->inputs[0]), nd4c_cpu_ref_tensor(&call->inputs[1])};
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  int64_t a_size = call->inputs[0].size;
  bool invert = call->attrs[ND4C_ATTR_isin_invert].as.i != 0;
  distinct_block block;
  ND4C_BACKEND_TRY(find_distinct(parts, 2, 1, a_size + call->inputs[1].size, true, &block));
  for (int64_t i = 0; i < block.d.count; i++) {
    if (block.d.order[i] < a_size) {
      bool found = block.d.last[block.d.groups[i]] >= a_size;
      y.data[nd4c_ref_offset(&y, y.rank, y.shape, block.d.order[i])] = found != invert;
    }
  }
  free_distinct(&block);
  return ND4C_OK;
}

/* -- list -------------------------------------------------------------------------------------------------------- */

#define OPS(X)      \
  X(nonzero)        \
  X(argwhere)       \
  X(sort)           \
  X(argsort)        \
  X(lexsort)        \
  X(top_k)          \
  X(kth_value)      \
  X(unique_all)     \
  X(unique_counts)  \
  X(unique_inverse) \
  X(unique_values)  \
  X(unique)         \
  X(union1d)        \
  X(intersect1d)    \
  X(setdiff1d)      \
  X(setxor1d)       \
  X(isin)
#define DEFINE_KERNEL(op) ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_ALL, run_##op),

const nd4c_kernel *const nd4c_cpu_reference_sorting_kernels[] = {OPS(DEFINE_KERNEL) NULL};
