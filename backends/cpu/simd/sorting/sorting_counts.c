/* Engine simd: bincount, and histograms with equal bins. Each worker counts into its own table; one worker sums
 * weights, in their order. dispatch/choice.c asks these kernels before the reference's. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/simd.h"
#include "kernels/reference/sorting/sets.h"

enum { BLOCK = 1024, LEAST_PIECE = 1 << 15, MOST_BINS = 1 << 20 };

typedef struct count_call {
  const nd4c_tensor *x;
  int64_t bins, pieces, piece;
  int64_t *tables; /* of each piece */
  const double *edges;
  double low, high;
  _Atomic uint64_t most; /* of integers, as 64 bits without sign */
  atomic_bool infinite;
  double (*extents)[2];
} count_call;

static void choose_pieces(count_call *c, int32_t width) {
  int64_t most = c->x->size / LEAST_PIECE;
  c->pieces = most < 1 ? 1 : most < width ? most : width < 1 ? 1 : width;
  c->piece = (c->x->size + c->pieces - 1) / c->pieces;
}

static int64_t piece_end(const count_call *c, int64_t piece) {
  int64_t end = (piece + 1) * c->piece;
  return end < c->x->size ? end : c->x->size;
}

static nd4c_status no_memory(size_t bytes) {
  return nd4c_cpu_host->fail(ND4C_MEMORY, "no memory for %zu bytes", bytes);
}

/* Elements of a tensor of doubles or floats as doubles. */
static const double *read_block(const nd4c_tensor *tensor, int64_t first, int64_t n, double *block) {
  if (tensor->dtype == ND4C_FLOAT64) {
    return (const double *)tensor->data + first;
  }
  const float *x = (const float *)tensor->data + first;
  for (int64_t i = 0; i < n; i++) {
    block[i] = x[i];
  }
  return block;
}

/* tables[bin] of all pieces together, into the first. */
static void add_tables(const count_call *c) {
  for (int64_t piece = 1; piece < c->pieces; piece++) {
    for (int64_t bin = 0; bin < c->bins; bin++) {
      c->tables[bin] += c->tables[piece * c->bins + bin];
    }
  }
}

/* -- integers ----------------------------------------------------------------------------------------------------- */

#define FOR_WHOLE(X) X(INT32, int32_t) X(INT64, int64_t) X(INT8, int8_t) X(UINT8, uint8_t) ND4C_WIDER_WHOLE(X)
#ifdef ND4C_DTYPES_LITE
#define ND4C_WIDER_WHOLE(X)
#else
#define ND4C_WIDER_WHOLE(X) X(INT16, int16_t) X(UINT16, uint16_t) X(UINT32, uint32_t) X(UINT64, uint64_t)
#endif

static void largest_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  count_call *c = user;
  uint64_t most = 0;
  (void)worker;
#define LARGEST(NAME, type)                     \
  case ND4C_##NAME: {                           \
    const type *x = c->x->data;                 \
    for (int64_t i = begin; i < end; i++) {     \
      uint64_t value = (uint64_t)(int64_t)x[i]; \
      most = value > most ? value : most;       \
    }                                           \
    break;                                      \
  }
  switch (c->x->dtype) {
    FOR_WHOLE(LARGEST)
    default:
      break;
  }
  uint64_t seen = atomic_load(&c->most);
  while (seen < most && !atomic_compare_exchange_weak(&c->most, &seen, most)) {
  }
}

static void bincount_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const count_call *c = user;
  (void)worker;
#define COUNT(NAME, type)                                            \
  case ND4C_##NAME: {                                                \
    const type *x = c->x->data;                                      \
    for (int64_t i = piece * c->piece; i < piece_end(c, piece); i++) \
      table[x[i]]++;                                                 \
    break;                                                           \
  }
  for (int64_t piece = begin; piece < end; piece++) {
    int64_t *table = c->tables + piece * c->bins;
    memset(table, 0, (size_t)c->bins * sizeof *table);
    switch (c->x->dtype) {
      FOR_WHOLE(COUNT)
      default:
        break;
    }
  }
}

static nd4c_status refuse_beyond(const nd4c_tensor *x, int64_t most) {
  for (int64_t i = 0; i < x->size; i++) {
    uint64_t value;
    nd4c_ref_read_words(x->dtype, x->data, i, 1, 1, &value);
    ND4C_CPU_FAIL_IF(value >= (uint64_t)most, ND4C_INDEX,
                     "bincount: element %lld is %lld, expected 0 to %lld (maxlength - 1)", (long long)i,
                     (long long)value, (long long)most - 1);
  }
  return nd4c_cpu_host->fail(ND4C_INTERNAL, "bincount: an element changed while it was counted");
}

/* Sums in the reference's order. */
static void sum_weights(const count_call *c, const nd4c_tensor *weights, double *sums) {
  double block[BLOCK];
#define SUM(NAME, type)                               \
  case ND4C_##NAME: {                                 \
    const type *x = (const type *)c->x->data + begin; \
    for (int64_t i = 0; i < n; i++)                   \
      sums[x[i]] += w[i];                             \
    break;                                            \
  }
  for (int64_t begin = 0; begin < c->x->size; begin += BLOCK) {
    int64_t n = c->x->size - begin < BLOCK ? c->x->size - begin : BLOCK;
    const double *w = read_block(weights, begin, n, block);
    switch (c->x->dtype) {
      FOR_WHOLE(SUM)
      default:
        break;
    }
  }
}

static nd4c_status run_weighted(const nd4c_call *call, const count_call *c) {
  const nd4c_tensor *y = &call->outputs[0];
  size_t bytes = (size_t)c->bins * sizeof(double) + 64;
  double *sums = nd4c_cpu_host->allocate_pages(bytes);
  if (sums == NULL) {
    return no_memory(bytes);
  }
  memset(sums, 0, bytes);
  sum_weights(c, &call->inputs[ND4C_IN_bincount_weights], sums);
  nd4c_ref_write_doubles(y->dtype, y->data, 0, 1, c->bins, sums);
  nd4c_cpu_host->free_pages(sums, bytes);
  return ND4C_OK;
}

static nd4c_status run_counted(const nd4c_call *call, count_call *c) {
  choose_pieces(c, c->bins > MOST_BINS ? 1 : call->width);
  size_t bytes = (size_t)(c->bins * c->pieces) * sizeof *c->tables + 64;
  c->tables = nd4c_cpu_host->allocate_pages(bytes);
  if (c->tables == NULL) {
    return no_memory(bytes);
  }
  nd4c_cpu_parallel(c->pieces, 1, call->width, bincount_range, c);
  add_tables(c);
  memcpy(call->outputs[0].data, c->tables, (size_t)c->bins * sizeof *c->tables);
  nd4c_cpu_host->free_pages(c->tables, bytes);
  return ND4C_OK;
}

static bool has_input(const nd4c_call *call, int32_t input) {
  return input < call->input_count && call->inputs[input].dtype != ND4C_DTYPE_NONE;
}

static nd4c_status run_bincount(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  count_call c = {.x = &call->inputs[0]};
  int64_t least = ND4C_INT_OF(call, bincount_minlength);
  nd4c_cpu_parallel(c.x->size, LEAST_PIECE, call->width, largest_range, &c);
  uint64_t largest = atomic_load(&c.most);
  if (c.x->size > 0 && largest >= (uint64_t)y->shape[0]) {
    return refuse_beyond(c.x, y->shape[0]);
  }
  c.bins = c.x->size > 0 ? (int64_t)largest + 1 : 0;
  c.bins = c.bins > least ? c.bins : least;
  nd4c_status status = has_input(call, ND4C_IN_bincount_weights) ? run_weighted(call, &c) : run_counted(call, &c);
  if (call->true_shapes != NULL) {
    call->true_shapes[0][0] = c.bins;
  }
  return status;
}

/* -- histogram ---------------------------------------------------------------------------------------------------- */

static void extent_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  count_call *c = user;
  double block[BLOCK];
  (void)worker;
  for (int64_t piece = begin; piece < end; piece++) {
    double low = INFINITY, high = -INFINITY, odd = 0;
    for (int64_t i = piece * c->piece; i < piece_end(c, piece); i += BLOCK) {
      int64_t n = piece_end(c, piece) - i < BLOCK ? piece_end(c, piece) - i : BLOCK;
      const double *x = read_block(c->x, i, n, block);
      for (int64_t k = 0; k < n; k++) {
        low = x[k] < low ? x[k] : low;
        high = x[k] > high ? x[k] : high;
      }
      for (int64_t k = 0; k < n; k++) {
        odd += x[k] * 0; /* NaN of what is not finite */
      }
    }
    c->extents[piece][0] = low;
    c->extents[piece][1] = high;
    if (odd != 0) {
      atomic_store(&c->infinite, true);
    }
  }
}

/* Computes each bin from equal widths, then corrects it by the edges, because these are rounded. */
static void histogram_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const count_call *c = user;
  const double *edges = c->edges, first = edges[0], last = edges[c->bins];
  double scale = (double)c->bins / (last - first), block[BLOCK];
  int32_t guess[BLOCK];
  (void)worker;
  for (int64_t piece = begin; piece < end; piece++) {
    int64_t *table = c->tables + piece * c->bins;
    memset(table, 0, (size_t)c->bins * sizeof *table);
    for (int64_t i = piece * c->piece; i < piece_end(c, piece); i += BLOCK) {
      int64_t n = piece_end(c, piece) - i < BLOCK ? piece_end(c, piece) - i : BLOCK;
      const double *x = read_block(c->x, i, n, block);
      for (int64_t k = 0; k < n; k++) {
        double part = (x[k] - first) * scale, most = (double)(c->bins - 1);
        part = part > 0 ? part : 0;
        guess[k] = (int32_t)(part < most ? part : most);
      }
      for (int64_t k = 0; k < n; k++) {
        int64_t bin = guess[k];
        if (!(x[k] >= first && x[k] <= last)) {
          continue;
        }
        bin -= x[k] < edges[bin];
        bin += bin < c->bins - 1 && x[k] >= edges[bin + 1];
        if (x[k] < edges[bin] || (bin < c->bins - 1 && x[k] >= edges[bin + 1])) {
          bin = nd4c_ref_bin(edges, c->bins, x[k]);
        }
        table[bin]++;
      }
    }
  }
}

static nd4c_status find_extent(const nd4c_call *call, count_call *c) {
  const nd4c_attr_value *range = &call->attrs[ND4C_ATTR_histogram_range];
  if (range->count == 2) {
    c->low = range->as.floats[0];
    c->high = range->as.floats[1];
    return ND4C_OK;
  }
  c->low = 0;
  c->high = 1;
  if (c->x->size == 0) {
    return ND4C_OK;
  }
  c->extents = nd4c_cpu_host->allocate((size_t)c->pieces * sizeof *c->extents);
  if (c->extents == NULL) {
    return no_memory((size_t)c->pieces * sizeof *c->extents);
  }
  nd4c_cpu_parallel(c->pieces, 1, call->width, extent_range, c);
  c->low = c->extents[0][0];
  c->high = c->extents[0][1];
  for (int64_t piece = 1; piece < c->pieces; piece++) {
    c->low = fmin(c->low, c->extents[piece][0]);
    c->high = fmax(c->high, c->extents[piece][1]);
  }
  nd4c_cpu_host->free(c->extents);
  ND4C_CPU_FAIL_IF(atomic_load(&c->infinite) || !isfinite(c->high - c->low), ND4C_ARGUMENT,
                   "histogram: x has a NaN or infinite extent: expected finite elements, or the attribute "
                   "range");
  return ND4C_OK;
}

static nd4c_status run_histogram(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0], *edges_out = &call->outputs[1];
  count_call c = {.x = &call->inputs[0], .bins = y->shape[0]};
  choose_pieces(&c, call->width);
  ND4C_BACKEND_TRY(find_extent(call, &c));
  size_t edge_bytes = (size_t)(c.bins + 1) * sizeof(double);
  size_t bytes = edge_bytes + (size_t)(c.bins * c.pieces) * sizeof *c.tables;
  double *edges = nd4c_cpu_host->allocate_pages(bytes);
  if (edges == NULL) {
    return no_memory(bytes);
  }
  c.edges = edges;
  c.tables = (int64_t *)(void *)(edges + c.bins + 1);
  nd4c_ref_bin_edges(c.low, c.high, c.bins, edges_out->dtype, edges);
  nd4c_cpu_parallel(c.pieces, 1, call->width, histogram_range, &c);
  add_tables(&c);
  for (int64_t bin = 0; bin < c.bins; bin++) {
    ((int64_t *)y->data)[bin * y->strides[0]] = c.tables[bin];
  }
  nd4c_ref_write_doubles(edges_out->dtype, edges_out->data, 0, edges_out->strides[0], c.bins + 1, edges);
  nd4c_cpu_host->free_pages(edges, bytes);
  return ND4C_OK;
}

/* -- kernels ------------------------------------------------------------------------------------------------------ */

static bool usable_bincount(const nd4c_call *call, char *reason, size_t reason_size) {
  if (has_input(call, ND4C_IN_bincount_weights)) {
    const nd4c_tensor *weights = &call->inputs[ND4C_IN_bincount_weights];
    ND4C_CPU_DECLINE_IF(weights->dtype != ND4C_FLOAT32 && weights->dtype != ND4C_FLOAT64,
                        "weights that are neither float32 nor float64");
    ND4C_CPU_DECLINE_IF((weights->flags & ND4C_TENSOR_CONTIGUOUS) == 0, "an operand is not contiguous");
  }
  ND4C_CPU_DECLINE_IF((call->inputs[0].flags & call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0,
                      "an operand is not contiguous");
  return true;
}

static bool usable_histogram(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(has_input(call, ND4C_IN_histogram_weights) || has_input(call, ND4C_IN_histogram_edges),
                      "edges or weights are given");
  ND4C_CPU_DECLINE_IF(ND4C_FLAG_OF(call, histogram_density) || call->outputs[0].dtype != ND4C_INT64, "densities");
  ND4C_CPU_DECLINE_IF(call->outputs[0].shape[0] < 1 || call->outputs[0].shape[0] > MOST_BINS,
                      "no bins, or more than 2^20");
  ND4C_CPU_DECLINE_IF((call->inputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0, "x is not contiguous");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_sorting_counts_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(bincount, ND4C_CPU_INTS, usable_bincount, run_bincount),
    ND4C_CPU_SIMD_KERNEL(histogram, ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64), usable_histogram,
                         run_histogram),
    NULL};
