/* Engine reference: places in sorted rows, bins, counts. Everything is read and judged before anything is written. */
#include <math.h>

#include "backends/cpu/reference/reference.h"
#include "kernels/reference/sorting/sets.h"
#include "kernels/reference/statistics/statistics.h"

/* -- rows in C order ---------------------------------------------------------------------------------------------- */

static nd4c_status no_memory(size_t bytes) {
  return nd4c_cpu_host->fail(ND4C_MEMORY, "no memory for %zu bytes", bytes);
}

/* Room for `count` items of `size` bytes. */
typedef struct room {
  void *memory;
  size_t bytes;
} room;

static nd4c_status make_room(int64_t count, size_t size, room *r) {
  r->bytes = (size_t)count * size + size;
  r->memory = nd4c_cpu_host->allocate_pages(r->bytes);
  return r->memory != NULL ? ND4C_OK : no_memory(r->bytes);
}

static void leave(room *r) {
  if (r->memory != NULL) {
    nd4c_cpu_host->free_pages(r->memory, r->bytes);
  }
}

/* All elements as doubles, 64-bit words, or keys. */
static void read_doubles(const nd4c_tensor *tensor, double *to) {
  nd4c_ref_gathering whole = {.x_dtype = tensor->dtype, .x = tensor->data};
  whole.inner.rank = tensor->rank;
  for (int32_t i = 0; i < tensor->rank; i++) {
    whole.inner.shape[i] = tensor->shape[i];
    whole.inner.x[i] = tensor->strides[i];
  }
  (void)nd4c_ref_collect(&whole, 0, to);
}

/* Elements as they are. */
static nd4c_status read_raw(const nd4c_tensor *tensor, room *raw) {
  nd4c_ref_tensor x = nd4c_cpu_ref_tensor(tensor);
  nd4c_status status = make_room(tensor->size, 16, raw);
  if (status == ND4C_OK) {
    nd4c_ref_flatten(&x, raw->memory);
  }
  return status;
}

static nd4c_status read_words(const nd4c_tensor *tensor, room *words) {
  room raw;
  ND4C_BACKEND_TRY(read_raw(tensor, &raw));
  nd4c_status status = make_room(tensor->size, sizeof(uint64_t), words);
  if (status == ND4C_OK) {
    nd4c_ref_read_words(tensor->dtype, raw.memory, 0, 1, tensor->size, words->memory);
  }
  leave(&raw);
  return status;
}

static nd4c_status read_keys(const nd4c_tensor *tensor, room *keys) {
  room raw;
  ND4C_BACKEND_TRY(read_raw(tensor, &raw));
  nd4c_status status = make_room(tensor->size, sizeof(uint64_t), keys);
  if (status == ND4C_OK) {
    nd4c_ref_keys(tensor->dtype, raw.memory, 0, 1, tensor->size, keys->memory);
  }
  leave(&raw);
  return status;
}

static void write_int64s(const nd4c_tensor *y, const int64_t *from) {
  nd4c_ref_tensor to = nd4c_cpu_ref_tensor(y);
  int64_t *data = y->data;
  for (int64_t i = 0; i < y->size; i++) {
    data[nd4c_ref_offset(&to, to.rank, to.shape, i)] = from[i];
  }
}

/* -- searching ---------------------------------------------------------------------------------------------------- */

/* Keys of the sorted row in the order of the sorter. */
static nd4c_status take_sorter(const nd4c_tensor *sorter, int64_t count, const uint64_t *keys, uint64_t *sorted) {
  room places = {NULL, 0};
  nd4c_status status = read_words(sorter, &places);
  if (status != ND4C_OK) {
    return status;
  }
  const int64_t *at = places.memory;
  for (int64_t i = 0; i < count && status == ND4C_OK; i++) {
    if (at[i] < 0 || at[i] >= count) {
      status = nd4c_cpu_host->fail(ND4C_INDEX, "searchsorted: sorter[%lld] is %lld, expected 0 to %lld", (long long)i,
                                   (long long)at[i], (long long)count - 1);
    } else {
      sorted[i] = keys[at[i]];
    }
  }
  leave(&places);
  return status;
}

static nd4c_status search_all(const nd4c_tensor *values, const uint64_t *keys, int64_t count, bool after,
                              bool downwards, const nd4c_tensor *y) {
  room wanted = {NULL, 0};
  nd4c_status status = read_keys(values, &wanted);
  if (status == ND4C_OK) {
    int64_t *places = wanted.memory;
    for (int64_t i = 0; i < values->size; i++) {
      uint64_t key = ((const uint64_t *)wanted.memory)[i];
      int64_t place = nd4c_ref_search(keys, count, key, after);
      places[i] = downwards ? count - place : place;
    }
    write_int64s(y, places);
  }
  leave(&wanted);
  return status;
}

static nd4c_status run_searchsorted(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *sorter = nd4c_cpu_input(call, ND4C_IN_searchsorted_sorter);
  bool after = call->attrs[ND4C_ATTR_searchsorted_right].as.i != 0;
  room keys = {NULL, 0}, sorted = {NULL, 0};
  nd4c_status status = read_keys(x, &keys);
  const uint64_t *row = keys.memory;
  if (status == ND4C_OK && sorter != NULL) {
    status = make_room(x->size, sizeof(uint64_t), &sorted);
    status = status == ND4C_OK ? take_sorter(sorter, x->size, keys.memory, sorted.memory) : status;
    row = sorted.memory;
  }
  if (status == ND4C_OK) {
    status = search_all(&call->inputs[1], row, x->size, after, false, &call->outputs[0]);
  }
  leave(&keys);
  leave(&sorted);
  return status;
}

static nd4c_status run_digitize(const nd4c_call *call) {
  const nd4c_tensor *bins = &call->inputs[ND4C_IN_digitize_bins];
  bool after = call->attrs[ND4C_ATTR_digitize_right].as.i == 0;
  room keys = {NULL, 0};
  nd4c_status status = read_keys(bins, &keys);
  if (status == ND4C_OK) {
    uint64_t *row = keys.memory;
    int direction = nd4c_ref_direction(row, bins->size);
    for (int64_t i = 0; direction < 0 && i < bins->size / 2; i++) {
      uint64_t swap = row[i];
      row[i] = row[bins->size - 1 - i];
      row[bins->size - 1 - i] = swap;
    }
    status = direction == 0 ? nd4c_cpu_host->fail(ND4C_ARGUMENT, "digitize: bins neither ascend nor descend")
                            : search_all(&call->inputs[0], row, bins->size, after, direction < 0, &call->outputs[0]);
  }
  leave(&keys);
  return status;
}

static nd4c_status is_ordered(const nd4c_call *call, bool strict) {
  const nd4c_tensor *x = &call->inputs[0];
  room raw = {NULL, 0};
  nd4c_status status = read_raw(x, &raw);
  if (status == ND4C_OK) {
    *(uint8_t *)call->outputs[0].data = nd4c_ref_is_ordered(x->dtype, raw.memory, x->size, strict);
  }
  leave(&raw);
  return status;
}

static nd4c_status run_is_non_decreasing(const nd4c_call *call) {
  return is_ordered(call, false);
}

static nd4c_status run_is_strictly_increasing(const nd4c_call *call) {
  return is_ordered(call, true);
}

static nd4c_status run_in_top_k(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t k = call->attrs[ND4C_ATTR_in_top_k_k].as.i, classes = x->shape[1];
  room words = {NULL, 0};
  nd4c_status status = read_words(&call->inputs[1], &words);
  for (int64_t row = 0; status == ND4C_OK && row < x->shape[0]; row++) {
    int64_t target = ((const int64_t *)words.memory)[row], greater = 0;
    bool known = target >= 0 && target < classes;
    double own = known ? nd4c_value_load(x->dtype, x->data, row * x->strides[0] + target * x->strides[1]).f : NAN;
    for (int64_t i = 0; known && i < classes; i++) {
      greater += nd4c_value_load(x->dtype, x->data, row * x->strides[0] + i * x->strides[1]).f > own;
    }
    ((uint8_t *)y->data)[row * y->strides[0]] = isfinite(own) && greater < k;
  }
  leave(&words);
  return status;
}

/* -- bins --------------------------------------------------------------------------------------------------------- */

/* The range given, or that of the elements. */
static nd4c_status find_range(const nd4c_call *call, const nd4c_attr_value *range, const double *x, int64_t count,
                              double *low, double *high) {
  if (range->count == 2) {
    *low = range->as.floats[0];
    *high = range->as.floats[1];
  } else if (!nd4c_ref_extent(x, count, low, high)) {
    return nd4c_cpu_host->fail(ND4C_ARGUMENT,
                               "%s: x has a NaN or infinite extent: expected finite elements, or the attribute range",
                               call->op->name);
  }
  return ND4C_OK;
}

static nd4c_status run_histogram_bin_edges(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t bins = y->shape[0] - 1;
  double low = 0, high = 0;
  room row = {NULL, 0}, edges = {NULL, 0};
  nd4c_status status = make_room(x->size, sizeof(double), &row);
  status = status == ND4C_OK ? make_room(bins + 1, sizeof(double), &edges) : status;
  if (status == ND4C_OK) {
    read_doubles(x, row.memory);
    status = find_range(call, &call->attrs[ND4C_ATTR_histogram_bin_edges_range], row.memory, x->size, &low, &high);
  }
  if (status == ND4C_OK) {
    nd4c_ref_bin_edges(low, high, bins, y->dtype, edges.memory);
    nd4c_ref_write_doubles(y->dtype, y->data, 0, y->strides[0], bins + 1, edges.memory);
  }
  leave(&row);
  leave(&edges);
  return status;
}

/* Edges of a histogram, and the numbers that are counted. */
typedef struct histogram {
  room x, weights, edges, totals;
  bool weighted;
  int64_t bins;
} histogram;

static nd4c_status make_histogram(const nd4c_call *call, histogram *h) {
  const nd4c_tensor *x = &call->inputs[0], *weights = nd4c_cpu_input(call, ND4C_IN_histogram_weights);
  h->bins = call->outputs[0].shape[0];
  h->weighted = weights != NULL;
  nd4c_status status = make_room(x->size, sizeof(double), &h->x);
  status = status == ND4C_OK ? make_room(h->weighted ? x->size : 0, sizeof(double), &h->weights) : status;
  status = status == ND4C_OK ? make_room(h->bins + 1, sizeof(double), &h->edges) : status;
  status = status == ND4C_OK ? make_room(h->bins, sizeof(double), &h->totals) : status;
  if (status == ND4C_OK) {
    read_doubles(x, h->x.memory);
    if (h->weighted) {
      read_doubles(weights, h->weights.memory);
    }
  }
  return status;
}

static nd4c_status find_edges(const nd4c_call *call, histogram *h) {
  const nd4c_tensor *given = nd4c_cpu_input(call, ND4C_IN_histogram_edges);
  double *edges = h->edges.memory, low = 0, high = 0;
  if (given == NULL) {
    const nd4c_attr_value *range = &call->attrs[ND4C_ATTR_histogram_range];
    nd4c_status status = find_range(call, range, h->x.memory, call->inputs[0].size, &low, &high);
    if (status == ND4C_OK) {
      nd4c_ref_bin_edges(low, high, h->bins, call->outputs[1].dtype, edges);
    }
    return status;
  }
  read_doubles(given, edges);
  for (int64_t i = 0; i <= h->bins; i++) {
    if (edges[i] != edges[i] || (i > 0 && edges[i] < edges[i - 1])) {
      return nd4c_cpu_host->fail(ND4C_ARGUMENT, "histogram: edges[%lld] is %g, expected ascending numbers",
                                 (long long)i, edges[i]);
    }
  }
  return ND4C_OK;
}

/* Sums of doubles: counts stay exact up to 2^53. */
static void count_all(const histogram *h, int64_t size) {
  const double *x = h->x.memory, *weights = h->weights.memory;
  double *totals = h->totals.memory;
  for (int64_t bin = 0; bin < h->bins; bin++) {
    totals[bin] = 0;
  }
  for (int64_t i = 0; i < size; i++) {
    int64_t bin = nd4c_ref_bin(h->edges.memory, h->bins, x[i]);
    if (bin >= 0) {
      totals[bin] += h->weighted ? weights[i] : 1;
    }
  }
}

static void write_totals(const nd4c_tensor *y, const double *totals) {
  bool whole = y->dtype == ND4C_INT64;
  for (int64_t i = 0; i < y->shape[0]; i++) {
    nd4c_value value = {.f = totals[i]};
    if (whole) {
      value.i = (int64_t)totals[i];
    }
    nd4c_value_store(y->dtype, y->data, i * y->strides[0], value);
  }
}

static void make_density(const histogram *h) {
  double *totals = h->totals.memory, sum = 0;
  const double *edges = h->edges.memory;
  for (int64_t bin = 0; bin < h->bins; bin++) {
    sum += totals[bin];
  }
  for (int64_t bin = 0; bin < h->bins; bin++) {
    totals[bin] = totals[bin] / (edges[bin + 1] - edges[bin]) / sum;
  }
}

static nd4c_status run_histogram(const nd4c_call *call) {
  histogram h = {.bins = 0};
  nd4c_status status = make_histogram(call, &h);
  status = status == ND4C_OK ? find_edges(call, &h) : status;
  if (status == ND4C_OK) {
    const nd4c_tensor *edges = &call->outputs[1];
    count_all(&h, call->inputs[0].size);
    if (call->attrs[ND4C_ATTR_histogram_density].as.i != 0) {
      make_density(&h);
    }
    write_totals(&call->outputs[0], h.totals.memory);
    nd4c_ref_write_doubles(edges->dtype, edges->data, 0, edges->strides[0], h.bins + 1, h.edges.memory);
  }
  leave(&h.x);
  leave(&h.weights);
  leave(&h.edges);
  leave(&h.totals);
  return status;
}

static nd4c_status run_histogram_fixed_width(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  double low = call->attrs[ND4C_ATTR_histogram_fixed_width_low].as.f;
  double high = call->attrs[ND4C_ATTR_histogram_fixed_width_high].as.f;
  room row = {NULL, 0}, totals = {NULL, 0};
  int64_t bins = y->shape[0];
  nd4c_status status = make_room(x->size, sizeof(double), &row);
  status = status == ND4C_OK ? make_room(bins, sizeof(double), &totals) : status;
  if (status == ND4C_OK) {
    const double *values = row.memory;
    double *counts = totals.memory;
    read_doubles(x, row.memory);
    for (int64_t i = 0; i < bins; i++) {
      counts[i] = 0;
    }
    for (int64_t i = 0; i < x->size; i++) {
      double part = floor((values[i] - low) / (high - low) * (double)bins);
      if (part == part) {
        counts[part < 0 ? 0 : part >= (double)bins ? bins - 1 : (int64_t)part] += 1;
      }
    }
    write_totals(y, totals.memory);
  }
  leave(&row);
  leave(&totals);
  return status;
}

/* -- counts ------------------------------------------------------------------------------------------------------- */

/* The first value that is not in 0 .. limit - 1, or -1. */
static int64_t find_beyond(const uint64_t *values, int64_t count, int64_t limit) {
  for (int64_t i = 0; i < count; i++) {
    if (values[i] >= (uint64_t)limit) {
      return i;
    }
  }
  return -1;
}

static int64_t largest_of(const uint64_t *values, int64_t count) {
  int64_t largest = -1;
  for (int64_t i = 0; i < count; i++) {
    largest = (int64_t)values[i] > largest ? (int64_t)values[i] : largest;
  }
  return largest;
}

/* Numbers and weights of a call, the latter as doubles; no memory where there are none. */
static nd4c_status read_weighted(const nd4c_tensor *x, const nd4c_tensor *weights, room *values, room *doubles) {
  nd4c_status status = read_words(x, values);
  if (status == ND4C_OK && weights != NULL) {
    status = make_room(weights->size, sizeof(double), doubles);
    if (status == ND4C_OK) {
      read_doubles(weights, doubles->memory);
    }
  }
  return status;
}

static nd4c_status run_bincount(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t least = call->attrs[ND4C_ATTR_bincount_minlength].as.i, most = y->shape[0];
  room values = {NULL, 0}, weights = {NULL, 0}, totals = {NULL, 0};
  nd4c_status status = read_weighted(x, nd4c_cpu_input(call, ND4C_IN_bincount_weights), &values, &weights);
  int64_t beyond = status == ND4C_OK ? find_beyond(values.memory, x->size, most) : -1;
  if (beyond >= 0) {
    status = nd4c_cpu_host->fail(ND4C_INDEX, "bincount: element %lld is %lld, expected 0 to %lld (maxlength - 1)",
                                 (long long)beyond, (long long)((const int64_t *)values.memory)[beyond],
                                 (long long)most - 1);
  }
  int64_t length = status == ND4C_OK ? largest_of(values.memory, x->size) + 1 : 0;
  length = length > least ? length : least;
  status = status == ND4C_OK ? make_room(length, sizeof(double), &totals) : status;
  if (status == ND4C_OK) {
    double *sums = totals.memory;
    const uint64_t *places = values.memory;
    for (int64_t i = 0; i < length; i++) {
      sums[i] = 0;
    }
    for (int64_t i = 0; i < x->size; i++) {
      sums[places[i]] += weights.memory != NULL ? ((const double *)weights.memory)[i] : 1;
    }
    nd4c_tensor part = *y;
    part.shape = &length;
    write_totals(&part, totals.memory);
    if (call->true_shapes != NULL) {
      call->true_shapes[0][0] = length;
    }
  }
  leave(&values);
  leave(&weights);
  leave(&totals);
  return status;
}

static nd4c_status check_classes(const nd4c_call *call, int32_t input, const room *values, int64_t classes) {
  int64_t beyond = find_beyond(values->memory, call->inputs[input].size, classes);
  if (beyond < 0) {
    return ND4C_OK;
  }
  return nd4c_cpu_host->fail(ND4C_INDEX, "confusion_matrix: element %lld of %s is %lld, expected 0 to %lld",
                             (long long)beyond, call->op->inputs[input].name,
                             (long long)((const int64_t *)values->memory)[beyond], (long long)classes - 1);
}

static nd4c_status run_confusion_matrix(const nd4c_call *call) {
  const nd4c_tensor *labels = &call->inputs[0], *y = &call->outputs[0];
  int64_t classes = y->shape[0];
  room label = {NULL, 0}, prediction = {NULL, 0}, weights = {NULL, 0}, totals = {NULL, 0};
  nd4c_status status = read_weighted(labels, nd4c_cpu_input(call, ND4C_IN_confusion_matrix_weights), &label, &weights);
  status = status == ND4C_OK ? read_words(&call->inputs[1], &prediction) : status;
  status = status == ND4C_OK ? check_classes(call, 0, &label, classes) : status;
  status = status == ND4C_OK ? check_classes(call, 1, &prediction, classes) : status;
  status = status == ND4C_OK ? make_room(classes * classes, sizeof(double), &totals) : status;
  if (status == ND4C_OK) {
    double *sums = totals.memory;
    for (int64_t i = 0; i < classes * classes; i++) {
      sums[i] = 0;
    }
    for (int64_t i = 0; i < labels->size; i++) {
      int64_t l = ((const int64_t *)label.memory)[i], p = ((const int64_t *)prediction.memory)[i];
      sums[l * classes + p] += weights.memory != NULL ? ((const double *)weights.memory)[i] : 1;
    }
    for (int64_t row = 0; row < classes; row++) {
      nd4c_tensor part = *y;
      part.data = (char *)y->data + row * y->strides[0] * nd4c_cpu_dtype_bytes(y->dtype);
      part.shape = &y->shape[1];
      part.strides = &y->strides[1];
      write_totals(&part, sums + row * classes);
    }
  }
  leave(&label);
  leave(&prediction);
  leave(&weights);
  leave(&totals);
  return status;
}

/* -- list --------------------------------------------------------------------------------------------------------- */

#define OPS(X)                              \
  X(searchsorted, ND4C_CPU_REALS)           \
  X(digitize, ND4C_CPU_REALS)               \
  X(is_non_decreasing, ND4C_CPU_REALS)      \
  X(is_strictly_increasing, ND4C_CPU_REALS) \
  X(in_top_k, ND4C_CPU_FLOATS)              \
  X(histogram, ND4C_CPU_REALS)              \
  X(histogram_bin_edges, ND4C_CPU_REALS)    \
  X(histogram_fixed_width, ND4C_CPU_REALS)  \
  X(bincount, ND4C_CPU_INTS)                \
  X(confusion_matrix, ND4C_CPU_INTS)
#define DEFINE_KERNEL(op, dtypes) ND4C_CPU_REFERENCE_KERNEL(op, dtypes, run_##op),

const nd4c_kernel *const nd4c_cpu_reference_sorting_histogram_kernels[] = {OPS(DEFINE_KERNEL) NULL};
