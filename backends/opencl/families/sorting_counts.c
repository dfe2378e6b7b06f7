/* Places in sorted rows, orders, and how many elements fall into each bin. The device finds whether a call is valid;
 * only that verdict is read back. dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <math.h>

#include "backends/opencl/support/ordering.h"

/* -- searching ----------------------------------------------------------------------------------------------------- */

typedef struct search {
  const nd4c_tensor *row, *sorter, *values;
  bool after, downwards;
} search;

static nd4c_status search_all(const nd4c_cl_step *step, const search *s) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  const int64_t *strides[2] = {s->values->strides, y->strides};
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, y->rank, y->shape, 2, strides));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  int32_t bytes = s->sorter != NULL ? nd4c_cl_element_bytes(s->sorter->dtype) : 0;
  bool is_signed = s->sorter != NULL && nd4c_cl_kind(s->sorter->dtype)[0] == 'I';
  int64_t sorter_step = s->sorter != NULL ? s->sorter->strides[0] : 0;
  if (s->sorter != NULL) {
    ND4C_BACKEND_TRY(ND4C_CL_RUN_TYPED(call, "places+keys", "check_sorter", s->row->dtype, s->sorter->size,
                                       ND4C_CL_IN(s->sorter), ND4C_CL_LONG(sorter_step), ND4C_CL_INT(bytes, is_signed),
                                       ND4C_CL_LONG(s->row->size), ND4C_CL_FAULT));
  }
  return ND4C_CL_RUN_TYPED(call, "places+keys", "search_sorted", s->row->dtype, walk.size, ND4C_CL_IN(s->row),
                           ND4C_CL_LONG(s->row->strides[0], s->row->size), ND4C_CL_IN(s->sorter),
                           ND4C_CL_LONG(sorter_step),
                           ND4C_CL_INT(bytes, is_signed, s->sorter != NULL, s->after, s->downwards),
                           ND4C_CL_IN(s->values), ND4C_CL_OUT(y), ND4C_CL_VALUE(walk));
}

static nd4c_status searchsorted(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *sorter = nd4c_cl_input(call, ND4C_IN_searchsorted_sorter);
  return search_all(step, &(search){.row = &call->inputs[0],
                                    .sorter = sorter,
                                    .values = &call->inputs[1],
                                    .after = ND4C_FLAG_OF(call, searchsorted_right)});
}

enum { VERDICT_NUMBERS = 4 }; /* 32-bit ones */

static int64_t verdict_scratch(const nd4c_call *call) {
  (void)call;
  return VERDICT_NUMBERS * (int64_t)sizeof(int32_t);
}

static nd4c_status digitize(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *bins = &call->inputs[ND4C_IN_digitize_bins];
  int32_t verdict[2] = {0, 0};
  if (!nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, 0, (int64_t)sizeof verdict, verdict, sizeof verdict[0]));
    ND4C_BACKEND_TRY(ND4C_CL_RUN_TYPED(call, "places+keys", "find_direction", bins->dtype, bins->size - 1,
                                       ND4C_CL_IN(bins), ND4C_CL_LONG(bins->strides[0]), ND4C_CL_SCRATCH(READ_WRITE)));
    ND4C_BACKEND_TRY(nd4c_cl_read_back(call, call->scratch_buffer, 0, verdict, (int64_t)sizeof verdict));
  }
  if (verdict[0] != 0 && verdict[1] != 0) {
    return nd4c_cl_host->fail(ND4C_ARGUMENT, "digitize: bins neither ascend nor descend");
  }
  return search_all(step, &(search){.row = bins,
                                    .values = &call->inputs[0],
                                    .after = ND4C_INT_OF(call, digitize_right) == 0,
                                    .downwards = verdict[0] != 0});
}

static nd4c_status check_order(const nd4c_cl_step *step, bool strict) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const uint8_t yes = 1;
  uint64_t nan_key;
  bool has_nan = nd4c_cl_nan_key(x->dtype, &nan_key);
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &walk, x));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, y->buffer, y->offset, 1, &yes, 1));
  return ND4C_CL_RUN_TYPED(call, "places+keys", "check_order", x->dtype, x->size - 1, ND4C_CL_IN(x), ND4C_CL_INOUT(y),
                           ND4C_CL_VALUE(walk), ND4C_CL_INT(strict, has_nan), ND4C_CL_LONG((int64_t)nan_key));
}

static nd4c_status in_top_k(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *targets = &call->inputs[1], *y = &call->outputs[0];
  if (targets->dtype != ND4C_INT32 && targets->dtype != ND4C_INT64) {
    return nd4c_cl_step_refuse(step, "targets that are neither int32 nor int64");
  }
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_dtype(step, x->dtype);
  }
  return ND4C_CL_RUN_TYPED(call, "places+bins", "in_top_k", x->dtype, x->shape[0], ND4C_CL_IN(x),
                           ND4C_CL_LONG(x->strides[0], x->strides[1], x->shape[1]), ND4C_CL_IN(targets),
                           ND4C_CL_LONG(targets->strides[0]), ND4C_CL_INT(targets->dtype == ND4C_INT64),
                           ND4C_CL_LONG(ND4C_INT_OF(call, in_top_k_k)), ND4C_CL_OUT(y), ND4C_CL_LONG(y->strides[0]));
}

/* -- bins ---------------------------------------------------------------------------------------------------------- */

enum { EXTENT_CHUNK = 256 /* elements at least */, EXTENT_CHUNKS = 2048 /* at most */, EXTENT_WORDS = 3 };

/* Lists in scratch: elements as keys of bins, totals and edges of bins, verdicts. Word offsets. */
typedef struct binning {
  nd4c_cl_sorting sorting;
  nd4c_cl_walk walk, weight_walk;
  const nd4c_tensor *weights;
  int64_t bins, totals, edges, verdict, sum, words;
} binning;

/* The verdict comes first, so that kernels can read the buffer as an array of 32-bit numbers. Extents of chunks use the
 * memory of the keys, which are made later. */
static void lay_out(binning *b, int64_t count, int64_t bins) {
  *b = (binning){.bins = bins, .verdict = 0, .sum = 2, .totals = 3, .edges = 3 + bins};
  b->words = nd4c_cl_sorting_make(&b->sorting, b->edges + bins + 1, 1, count) + EXTENT_WORDS;
}

/* A bin for each element of the first output, at most. */
static int64_t bins_scratch(const nd4c_call *call) {
  binning b;
  lay_out(&b, call->inputs[0].size, call->outputs[0].size);
  return b.words * ND4C_CL_WORD;
}

static nd4c_status begin_bins(const nd4c_cl_step *step, int64_t bins, const nd4c_tensor *weights, bool wants_double,
                              binning *b) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0];
  lay_out(b, x->size, bins);
  b->weights = weights;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &b->walk, x));
  ND4C_BACKEND_TRY(weights != NULL ? nd4c_cl_step_walk_all(step, &b->weight_walk, weights) : ND4C_OK);
  if (!nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  if ((wants_double || weights != NULL) && !nd4c_cl_fp64_usable(call->device, step->reason, step->reason_size)) {
    return ND4C_UNSUPPORTED;
  }
  if (bins > INT32_MAX) {
    return nd4c_cl_step_refuse(step, "%lld bins, more than 32 bits can number", (long long)bins);
  }
  ND4C_BACKEND_TRY(nd4c_cl_step_call(step));
  return nd4c_cl_sorting_check(step, x->size, b->words * ND4C_CL_WORD);
}

/* Keys are there: totals[bin] = how many, or the sum of weights. */
static nd4c_status total(const nd4c_call *call, binning *b) {
  ND4C_BACKEND_TRY(nd4c_cl_sort(call, &b->sorting));
  if (b->weights == NULL) {
    return ND4C_CL_RUN_ORDER(call, "count_groups", b->bins, ND4C_CL_LONG(b->sorting.keys, b->sorting.length),
                             ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(b->totals, 1));
  }
  return ND4C_CL_RUN_TYPED(call, "places+bins", "weigh_groups", b->weights->dtype, b->bins, ND4C_CL_SCRATCH(READ_WRITE),
                           ND4C_CL_LONG(b->sorting.keys, b->sorting.order, b->sorting.length), ND4C_CL_IN(b->weights),
                           ND4C_CL_VALUE(b->weight_walk), ND4C_CL_LONG(b->totals));
}

/* The first `count` totals, in C order of y. */
static nd4c_status write_totals(const nd4c_call *call, const binning *b, bool are_doubles, const nd4c_tensor *y,
                                int64_t count) {
  const nd4c_cl_step step = {.call = call};
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(&step, &walk, y));
  return ND4C_CL_RUN_TYPED(call, "places+bins", "write_totals", y->dtype, count, ND4C_CL_SCRATCH(READ),
                           ND4C_CL_LONG(b->totals), ND4C_CL_INT(are_doubles), ND4C_CL_OUT(y), ND4C_CL_VALUE(walk));
}

/* -- counts of numbers --------------------------------------------------------------------------------------------- */

/* Makes keys of the numbers of one input. `beyond` gets the place of the first number that is not in 0 .. limit - 1,
 * and `bad` the number; beyond -1: there is none. `largest`: the largest number, -1 for an empty input. */
static nd4c_status number_keys(const nd4c_call *call, const binning *b, const nd4c_tensor *x, const nd4c_cl_walk *walk,
                               int64_t limit, bool combine, int64_t *beyond, int64_t *bad, int64_t *largest) {
  int32_t verdict[2] = {INT32_MAX, -1};
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, 0, 4, &verdict[0], 4));
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, 4, 4, &verdict[1], 4));
  ND4C_BACKEND_TRY(ND4C_CL_RUN_TYPED(
      call, "places+bins", "number_keys", x->dtype, x->size, ND4C_CL_IN(x), ND4C_CL_SCRATCH(READ_WRITE),
      ND4C_CL_LONG(b->sorting.keys, b->sorting.order, b->sorting.other_keys), ND4C_CL_VALUE(*walk), ND4C_CL_LONG(limit),
      ND4C_CL_INT(combine), ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(b->verdict)));
  ND4C_BACKEND_TRY(nd4c_cl_read_back(call, call->scratch_buffer, 0, verdict, (int64_t)sizeof verdict));
  *beyond = verdict[0] == INT32_MAX ? -1 : verdict[0];
  *largest = verdict[1];
  return *beyond < 0 ? ND4C_OK
                     : nd4c_cl_read_back(call, call->scratch_buffer, (b->sorting.other_keys + *beyond) * ND4C_CL_WORD,
                                         bad, (int64_t)sizeof *bad);
}

static nd4c_status bincount(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t least = ND4C_INT_OF(call, bincount_minlength), most = y->shape[0], beyond, bad = 0, largest;
  binning b;
  ND4C_BACKEND_TRY(begin_bins(step, most, nd4c_cl_input(call, ND4C_IN_bincount_weights), false, &b));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(number_keys(call, &b, x, &b.walk, most, false, &beyond, &bad, &largest));
  if (beyond >= 0) {
    return nd4c_cl_host->fail(ND4C_INDEX, "bincount: element %lld is %lld, expected 0 to %lld (maxlength - 1)",
                              (long long)beyond, (long long)bad, (long long)most - 1);
  }
  int64_t length = largest + 1 > least ? largest + 1 : least;
  if (call->true_shapes != NULL) {
    call->true_shapes[0][0] = length;
  }
  ND4C_BACKEND_TRY(total(call, &b));
  return write_totals(call, &b, b.weights != NULL, y, length);
}

static nd4c_status confusion_matrix(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  int64_t classes = y->shape[0], largest;
  nd4c_cl_walk walks[2];
  binning b;
  ND4C_BACKEND_TRY(begin_bins(step, y->size, nd4c_cl_input(call, ND4C_IN_confusion_matrix_weights), false, &b));
  walks[0] = b.walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &walks[1], &call->inputs[1]));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < 2; i++) {
    int64_t beyond, bad = 0;
    ND4C_BACKEND_TRY(number_keys(call, &b, &call->inputs[i], &walks[i], classes, i > 0, &beyond, &bad, &largest));
    if (beyond >= 0) {
      return nd4c_cl_host->fail(ND4C_INDEX, "confusion_matrix: element %lld of %s is %lld, expected 0 to %lld",
                                (long long)beyond, call->op->inputs[i].name, (long long)bad, (long long)classes - 1);
    }
  }
  ND4C_BACKEND_TRY(total(call, &b));
  return write_totals(call, &b, b.weights != NULL, y, y->size);
}

/* -- histograms ---------------------------------------------------------------------------------------------------- */

/* The range given, or that of the elements. */
static nd4c_status find_range(const nd4c_call *call, const binning *b, const nd4c_attr_value *range, double *low,
                              double *high) {
  const nd4c_tensor *x = &call->inputs[0];
  int64_t least = (x->size + EXTENT_CHUNKS - 1) / EXTENT_CHUNKS, chunk = least > EXTENT_CHUNK ? least : EXTENT_CHUNK;
  int64_t chunks = (x->size + chunk - 1) / chunk;
  double extent[EXTENT_WORDS] = {0, 1, 1};
  if (range->count == 2) {
    *low = range->as.floats[0];
    *high = range->as.floats[1];
    return ND4C_OK;
  }
  if (x->size > 0) {
    nd4c_tensor parts = {.buffer = call->scratch_buffer, .offset = b->sorting.keys};
    ND4C_BACKEND_TRY(ND4C_CL_RUN_TYPED(call, "places+bins", "find_extents", x->dtype, chunks, ND4C_CL_IN(x),
                                       ND4C_CL_VALUE(b->walk), ND4C_CL_LONG(chunk), ND4C_CL_INOUT(&parts)));
    ND4C_BACKEND_TRY(ND4C_CL_RUN_TYPED(call, "places+bins", "join_extents", x->dtype, 1, ND4C_CL_INOUT(&parts),
                                       ND4C_CL_LONG(chunks)));
    ND4C_BACKEND_TRY(
        nd4c_cl_read_back(call, call->scratch_buffer, parts.offset * ND4C_CL_WORD, extent, (int64_t)sizeof extent));
  }
  *low = extent[0];
  *high = extent[1];
  return extent[2] == 1 && isfinite(*high - *low)
             ? ND4C_OK
             : nd4c_cl_host->fail(
                   ND4C_ARGUMENT,
                   "%s: x has a NaN or infinite extent: expected finite elements, or the attribute range",
                   call->op->name);
}

/* Equally spaced edges: into y and into scratch. */
static nd4c_status space_edges(const nd4c_call *call, const binning *b, const nd4c_tensor *y, double low, double high) {
  return ND4C_CL_RUN_TYPED(call, "places+bins", "space_edges", y->dtype, b->bins + 1, ND4C_CL_INOUT(y),
                           ND4C_CL_LONG(y->strides[0]), ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(b->edges),
                           ND4C_CL_DOUBLE(low, high), ND4C_CL_LONG(b->bins));
}

/* Edges given: into scratch, judged, then into y. */
static nd4c_status take_edges(const nd4c_call *call, const binning *b, const nd4c_tensor *given, const nd4c_tensor *y) {
  int32_t bad = INT32_MAX;
  double edge = 0;
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, 0, (int64_t)sizeof bad, &bad, sizeof bad));
  ND4C_BACKEND_TRY(ND4C_CL_RUN_TYPED(call, "places+bins", "take_edges", given->dtype, b->bins + 1, ND4C_CL_IN(given),
                                     ND4C_CL_LONG(given->strides[0]), ND4C_CL_SCRATCH(READ_WRITE),
                                     ND4C_CL_LONG(b->edges), ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(b->verdict)));
  ND4C_BACKEND_TRY(nd4c_cl_read_back(call, call->scratch_buffer, 0, &bad, (int64_t)sizeof bad));
  if (bad != INT32_MAX) {
    ND4C_BACKEND_TRY(
        nd4c_cl_read_back(call, call->scratch_buffer, (b->edges + bad) * ND4C_CL_WORD, &edge, (int64_t)sizeof edge));
    return nd4c_cl_host->fail(ND4C_ARGUMENT, "histogram: edges[%lld] is %g, expected ascending numbers", (long long)bad,
                              edge);
  }
  return ND4C_CL_RUN_TYPED(call, "places+bins", "write_edges", y->dtype, b->bins + 1, ND4C_CL_SCRATCH(READ),
                           ND4C_CL_LONG(b->edges), ND4C_CL_OUT(y), ND4C_CL_LONG(y->strides[0]));
}

static nd4c_status bin_keys(const nd4c_call *call, const binning *b, bool fixed, double low, double high) {
  const nd4c_tensor *x = &call->inputs[0];
  return ND4C_CL_RUN_TYPED(call, "places+bins", "bin_keys", x->dtype, x->size, ND4C_CL_IN(x),
                           ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(b->sorting.keys, b->sorting.order),
                           ND4C_CL_VALUE(b->walk), ND4C_CL_LONG(b->edges, b->bins), ND4C_CL_INT(fixed),
                           ND4C_CL_DOUBLE(low, high));
}

static nd4c_status make_density(const nd4c_call *call, const binning *b) {
  ND4C_BACKEND_TRY(ND4C_CL_RUN_TYPED(call, "places+bins", "add_totals", call->outputs[0].dtype, 1,
                                     ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(b->totals, b->bins),
                                     ND4C_CL_INT(b->weights != NULL), ND4C_CL_LONG(b->sum)));
  return ND4C_CL_RUN_TYPED(call, "places+bins", "make_density", call->outputs[0].dtype, b->bins,
                           ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(b->totals), ND4C_CL_INT(b->weights != NULL),
                           ND4C_CL_LONG(b->sum, b->edges));
}

static nd4c_status histogram(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *given = nd4c_cl_input(call, ND4C_IN_histogram_edges), *y = &call->outputs[0];
  bool density = ND4C_FLAG_OF(call, histogram_density);
  double low, high;
  binning b;
  ND4C_BACKEND_TRY(begin_bins(step, y->shape[0], nd4c_cl_input(call, ND4C_IN_histogram_weights), true, &b));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  if (given != NULL) {
    ND4C_BACKEND_TRY(take_edges(call, &b, given, &call->outputs[1]));
  } else {
    ND4C_BACKEND_TRY(find_range(call, &b, &call->attrs[ND4C_ATTR_histogram_range], &low, &high));
    ND4C_BACKEND_TRY(space_edges(call, &b, &call->outputs[1], low, high));
  }
  ND4C_BACKEND_TRY(bin_keys(call, &b, false, 0, 0));
  ND4C_BACKEND_TRY(total(call, &b));
  ND4C_BACKEND_TRY(density ? make_density(call, &b) : ND4C_OK);
  return write_totals(call, &b, density || b.weights != NULL, y, b.bins);
}

static nd4c_status histogram_bin_edges(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  double low, high;
  binning b;
  ND4C_BACKEND_TRY(begin_bins(step, call->outputs[0].shape[0] - 1, NULL, true, &b));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(find_range(call, &b, &call->attrs[ND4C_ATTR_histogram_bin_edges_range], &low, &high));
  return space_edges(call, &b, &call->outputs[0], low, high);
}

static nd4c_status histogram_fixed_width(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  binning b;
  ND4C_BACKEND_TRY(begin_bins(step, call->outputs[0].shape[0], NULL, true, &b));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(bin_keys(call, &b, true, ND4C_REAL_OF(call, histogram_fixed_width_low),
                            ND4C_REAL_OF(call, histogram_fixed_width_high)));
  ND4C_BACKEND_TRY(total(call, &b));
  return write_totals(call, &b, false, &call->outputs[0], b.bins);
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define OPS(X)                                                        \
  X(searchsorted, searchsorted(step), NULL)                           \
  X(digitize, digitize(step), verdict_scratch)                        \
  X(is_non_decreasing, check_order(step, false), NULL)                \
  X(is_strictly_increasing, check_order(step, true), NULL)            \
  X(in_top_k, in_top_k(step), NULL)                                   \
  X(histogram, histogram(step), bins_scratch)                         \
  X(histogram_bin_edges, histogram_bin_edges(step), bins_scratch)     \
  X(histogram_fixed_width, histogram_fixed_width(step), bins_scratch) \
  X(bincount, bincount(step), bins_scratch)                           \
  X(confusion_matrix, confusion_matrix(step), bins_scratch)
#define DEFINE_KERNEL(op, what, scratch) ND4C_CL_STEP_KERNEL(op, ND4C_CL_ALL, what, scratch)
OPS(DEFINE_KERNEL)

const nd4c_kernel *const nd4c_cl_sorting_counts_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
