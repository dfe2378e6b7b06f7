/* Engine simd: reductions of a function of the elements, as rows over reduction_terms.h: norms of any power, counts,
 * entropies, reductions without NaN, distances; trace. dispatch/choice.c asks these kernels before the reference's. */
#include <math.h>

#include "backends/cpu/simd/reduction/reduction_terms.h"
#include "kernels/reference/support/value.h"

/* -- what results are made of ------------------------------------------------------------------------------------- */

static double first_line(const double *folded, double count, double parameter) {
  (void)count, (void)parameter;
  return folded[0];
}

static double share_of_count(const double *folded, double count, double parameter) {
  (void)parameter;
  return folded[0] / count;
}

static double first_by_second(const double *folded, double count, double parameter) {
  (void)count, (void)parameter;
  return folded[0] / folded[1];
}

static double root(const double *folded, double count, double parameter) {
  (void)count, (void)parameter;
  return sqrt(folded[0]);
}

static double root_of_power(const double *folded, double count, double p) {
  (void)count;
  return pow(folded[0], 1 / p);
}

static double logarithm(const double *folded, double count, double parameter) {
  (void)count, (void)parameter;
  return log(folded[0]);
}

static double cosine(const double *folded, double count, double parameter) {
  (void)count, (void)parameter;
  return folded[0] / (sqrt(folded[1]) * sqrt(folded[2]));
}

static double jaccard(const double *folded, double count, double parameter) {
  (void)count, (void)parameter;
  return 1 - folded[0] / folded[1];
}

/* -- results from accumulators ------------------------------------------------------------------------------------ */

/* Accumulators are sums or products in double. */
static void store_doubles(const nd4c_simd_terms *t, int64_t n, uint64_t *const *accumulators, const char *x,
                          int64_t x_step, char *y, int64_t y_step) {
  double folded[ND4C_TERM_LINES];
  (void)x, (void)x_step;
  for (int64_t i = 0; i < n; i++) {
    for (int32_t line = 0; line < t->lines; line++) {
      memcpy(&folded[line], &accumulators[line][i], sizeof(double));
    }
    nd4c_reduction_store(t->y_dtype, t->finish(folded, (double)t->count, t->parameter), y + i * y_step);
  }
}

/* Accumulators count. */
static void store_counts(const nd4c_simd_terms *t, int64_t n, uint64_t *const *accumulators, const char *x,
                         int64_t x_step, char *y, int64_t y_step) {
  (void)x, (void)x_step;
  for (int64_t i = 0; i < n; i++) {
    double count = (double)accumulators[0][i];
    nd4c_reduction_store(t->y_dtype, t->finish(&count, (double)t->count, t->parameter), y + i * y_step);
  }
}

/* Accumulators are elements, which the loops of y's dtype store. */
static void store_elements(const nd4c_simd_terms *t, int64_t n, uint64_t *const *accumulators, const char *x,
                           int64_t x_step, char *y, int64_t y_step) {
  enum { SOME = 256 };
  _Alignas(64) char buffer[8 * SOME];
  const nd4c_reduction_loops *loops = &nd4c_simd.reduction->loops[ND4C_REDUCE_max][t->y_dtype];
  const int32_t bytes = t->axes.y_bytes;
  (void)x, (void)x_step;
  if (n == 1 || y_step == bytes) {
    loops->store(n, accumulators[0], 1, y);
    return;
  }
  for (int64_t i = 0; i < n; i += SOME) {
    int64_t count = n - i < SOME ? n - i : SOME;
    loops->store(count, (const char *)accumulators[0] + i * t->accumulator_bytes, 1, buffer);
    nd4c_simd.move->move[bytes](1, count, buffer, 0, 1, y + i * y_step, 0, y_step / bytes);
  }
}

/* Element `index` of the result whose first one is x. */
static double element_of(const nd4c_simd_terms *t, const char *x, int64_t index) {
  const nd4c_reduction *a = &t->axes;
  const int32_t last = a->rank - 1;
  int64_t run = a->reduced[last] ? a->shape[last] : 1, unused = 0;
  int64_t offset = nd4c_reduction_locate(a, true, index / run, &unused) + index % run * a->x_strides[last] * a->x_bytes;
  return nd4c_value_load(t->x_dtype, x + offset, 0).f;
}

/* The largest or smallest without NaN: an infinity may stand for the lack of elements. */
static void store_known(const nd4c_simd_terms *t, int64_t n, uint64_t *const *accumulators, const char *x,
                        int64_t x_step, char *y, int64_t y_step) {
  store_elements(t, n, accumulators, x, x_step, y, y_step);
  for (int64_t i = 0; i < n; i++) {
    int64_t at = 0;
    if (!isinf(nd4c_value_load(t->y_dtype, y + i * y_step, 0).f)) {
      continue;
    }
    while (at < t->count && isnan(element_of(t, x + i * x_step, at))) {
      at++;
    }
    if (at == t->count) {
      nd4c_reduction_store(t->y_dtype, NAN, y + i * y_step);
    }
  }
}

/* The norm for one result whose sum of powers left the range of double: magnitudes are divided by a power of two near
 * the one that counts most. */
static double scaled_norm(const nd4c_simd_terms *t, const char *x) {
  const double p = t->parameter;
  double best = p < 0 ? INFINITY : 0, sum = 0;
  for (int64_t i = 0; i < t->count; i++) {
    double size = fabs(element_of(t, x, i));
    best = best != best || (p < 0 ? size >= best : size <= best) ? best : size;
  }
  if (!isfinite(best) || best == 0) {
    return best;
  }
  double scale = ldexp(1, ilogb(best));
  for (int64_t i = 0; i < t->count; i++) {
    sum += pow(fabs(element_of(t, x, i)) / scale, p);
  }
  return pow(sum, 1 / p) * scale;
}

static void store_norms(const nd4c_simd_terms *t, int64_t n, uint64_t *const *accumulators, const char *x,
                        int64_t x_step, char *y, int64_t y_step) {
  store_doubles(t, n, accumulators, x, x_step, y, y_step);
  for (int64_t i = 0; i < n; i++) {
    double sum;
    memcpy(&sum, &accumulators[0][i], sizeof sum);
    if (!(sum > 0x1p-900 && sum < INFINITY)) {
      nd4c_reduction_store(t->y_dtype, scaled_norm(t, x + i * x_step), y + i * y_step);
    }
  }
}

/* Largest minus smallest, as the op subtract of the dtype has it. */
static void store_ranges(const nd4c_simd_terms *t, int64_t n, uint64_t *const *accumulators, const char *x,
                         int64_t x_step, char *y, int64_t y_step) {
  enum { SOME = 256 };
  _Alignas(64) char most[8 * SOME], least[8 * SOME];
  const nd4c_reduction_loops *loops = &nd4c_simd.reduction->loops[ND4C_REDUCE_max][t->x_dtype];
  const int32_t bytes = t->axes.y_bytes;
  (void)x, (void)x_step;
  for (int64_t i = 0; i < n; i += SOME) {
    int64_t count = n - i < SOME ? n - i : SOME;
    loops->store(count, (const char *)accumulators[0] + i * t->accumulator_bytes, 1, most);
    loops->store(count, (const char *)accumulators[1] + i * t->accumulator_bytes, 1, least);
    nd4c_simd.binary->loops[ND4C_BINARY_subtract][t->x_dtype].both(count, most, least, most);
    nd4c_simd.move->move[bytes](1, count, most, 0, 1, y + i * y_step, 0, y_step / bytes);
  }
}

/* -- rows --------------------------------------------------------------------------------------------------------- */

/* In what terms are folded. */
typedef enum kind { DOUBLES, COUNTS, OWN, TRUTHS } kind;

typedef struct recipe {
  kind kind;
  int32_t lines;
  int term; /* nd4c_term_index, or ND4C_TERM_COUNT for the elements themselves */
  enum nd4c_reduce_index folds[ND4C_TERM_LINES];
  nd4c_simd_terms_store store;
  double (*finish)(const double *folded, double count, double parameter);
} recipe;

static bool is_half(nd4c_dtype dtype) {
  return (ND4C_DTYPE_BIT(dtype) & ND4C_CPU_FLOATS) != 0 && nd4c_cpu_dtype_bytes(dtype) == 2;
}

/* The dtype whose loops fold the terms. Terms of 16-bit floats are float; the elements themselves are not. */
static nd4c_dtype folded_dtype(const recipe *row, nd4c_dtype x) {
  return row->kind == DOUBLES                                            ? ND4C_FLOAT64
         : row->kind == COUNTS                                           ? ND4C_UINT8
         : row->kind == TRUTHS                                           ? ND4C_BOOL
         : row->kind == OWN && is_half(x) && row->term < ND4C_TERM_COUNT ? ND4C_FLOAT32
                                                                         : x;
}

static nd4c_status reduce(const nd4c_call *call, const recipe *row, const nd4c_attr_value *axes, bool keepdims,
                          double parameter) {
  const nd4c_tensor *x = &call->inputs[0];
  const bool pair = row->term < ND4C_TERM_COUNT && (ND4C_PAIR_TERMS >> row->term & 1) != 0;
  nd4c_dtype folded = folded_dtype(row, x->dtype);
  nd4c_simd_terms t = {.map = row->term < ND4C_TERM_COUNT ? nd4c_simd.terms->maps[row->term][x->dtype] : NULL,
                       .lines = row->lines,
                       .bytes = nd4c_cpu_dtype_bytes(folded),
                       .parameter = parameter,
                       .store = row->store,
                       .finish = row->finish,
                       .x_dtype = x->dtype,
                       .y_dtype = call->outputs[0].dtype,
                       .settles = row->kind == TRUTHS,
                       .settled_by = row->folds[0] == ND4C_REDUCE_max};
  bool reduced[ND4C_CPU_MAX_RANK];
  t.accumulator_bytes = row->kind == DOUBLES || row->kind == COUNTS ? 8 : is_half(folded) ? 4 : t.bytes;
  for (int32_t line = 0; line < row->lines; line++) {
    t.loops[line] = &nd4c_simd.reduction->loops[row->folds[line]][folded];
  }
  nd4c_cpu_reduced_axes(x->rank, axes, reduced);
  nd4c_reduction_prepare_pair(&t.axes, call, reduced, keepdims, pair ? &call->inputs[1] : NULL);
  nd4c_simd_terms_run(&t, call->width);
  return nd4c_reduction_end(&t.axes, call);
}

static nd4c_status reduce_rows(const nd4c_call *call, const recipe *row) {
  return reduce(call, row, &call->attrs[ND4C_ATTR_sum_axes], ND4C_FLAG_OF(call, sum_keepdims), 0);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0, "nothing to reduce");
  return true;
}

static bool usable_pair(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1];
  ND4C_CPU_DECLINE_IF(a->dtype != b->dtype || !nd4c_cpu_same_shape(a, b), "operands of two dtypes or shapes");
  return usable(call, reason, reason_size);
}

/* Norms whose power decides how they are computed. */
static nd4c_status norm(const nd4c_call *call, double p, const nd4c_attr_value *axes, bool keepdims) {
  static const recipe zeroth = {COUNTS, 1, ND4C_TERM_nonzero, {ND4C_REDUCE_sum}, store_counts, first_line};
  static const recipe least = {OWN, 1, ND4C_TERM_magnitude, {ND4C_REDUCE_min}, store_elements, NULL};
  static const recipe powers = {DOUBLES, 1, ND4C_TERM_power, {ND4C_REDUCE_sum}, store_norms, root_of_power};
  if (p == 1 || p == 2 || (isinf(p) && p > 0)) {
    return nd4c_simd_reduce(call,
                            p == 1   ? ND4C_REDUCE_norm1
                            : p == 2 ? ND4C_REDUCE_norm2
                                     : ND4C_REDUCE_norm_max,
                            axes, keepdims);
  }
  return reduce(call, p == 0 ? &zeroth : isinf(p) ? &least : &powers, axes, keepdims, p);
}

nd4c_status nd4c_simd_sum_powers(const nd4c_call *call, double p) {
  static const recipe powers = {DOUBLES, 1, ND4C_TERM_power, {ND4C_REDUCE_sum}, store_doubles, first_line};
  return reduce(call, &powers, &call->attrs[ND4C_ATTR_sum_axes], ND4C_FLAG_OF(call, sum_keepdims), p);
}

#define SUM_OF(term) {DOUBLES, 1, ND4C_TERM_##term, {ND4C_REDUCE_sum}, store_doubles, first_line}

nd4c_status nd4c_simd_sum_products(const nd4c_call *call) {
  static const recipe products = SUM_OF(product);
  return reduce_rows(call, &products);
}

nd4c_status nd4c_simd_sum_scores(const nd4c_call *call) {
  static const recipe scores = SUM_OF(score);
  return reduce_rows(call, &scores);
}

nd4c_status nd4c_simd_mean(const nd4c_call *call) {
  static const recipe mean = {DOUBLES, 1, ND4C_TERM_plain, {ND4C_REDUCE_sum}, store_doubles, share_of_count};
  return reduce_rows(call, &mean);
}

nd4c_status nd4c_simd_sum_targets(const nd4c_call *call) {
  static const recipe targets = SUM_OF(plain);
  nd4c_call inner = *call;
  inner.inputs = &call->inputs[1];
  inner.input_count = 1;
  return reduce_rows(&inner, &targets);
}

static nd4c_status run_norm_p(const nd4c_call *call) {
  return norm(call, ND4C_REAL_OF(call, norm_p_p), &call->attrs[ND4C_ATTR_norm_p_axes],
              ND4C_FLAG_OF(call, norm_p_keepdims));
}

static nd4c_status run_vector_norm(const nd4c_call *call) {
  return norm(call, ND4C_REAL_OF(call, vector_norm_ord), &call->attrs[ND4C_ATTR_vector_norm_axes],
              ND4C_FLAG_OF(call, vector_norm_keepdims));
}

/* -- trace: the sum of a diagonal, whose axis comes last ----------------------------------------------------------- */

typedef struct diagonal {
  nd4c_tensor tensor;
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
} diagonal;

static void diagonal_of(const nd4c_call *call, diagonal *d) {
  const nd4c_tensor *x = &call->inputs[0];
  const int64_t offset = ND4C_INT_OF(call, trace_offset);
  const int32_t first = nd4c_axis(ND4C_INT_OF(call, trace_axis1), x->rank);
  const int32_t second = nd4c_axis(ND4C_INT_OF(call, trace_axis2), x->rank);
  const int64_t row = offset == INT64_MIN ? INT64_MAX : offset < 0 ? -offset : 0, column = offset > 0 ? offset : 0;
  const int64_t rows = x->shape[first] - row, columns = x->shape[second] - column;
  const int64_t length = rows < columns ? rows : columns;
  d->tensor = (nd4c_tensor){.dtype = x->dtype, .shape = d->shape, .strides = d->strides};
  d->tensor.size = length > 0 ? length * call->outputs[0].size : 0;
  if (length > 0 && x->data != NULL) { /* A question about kernels comes without data. */
    d->tensor.data = (char *)x->data +
                     (row * x->strides[first] + column * x->strides[second]) * (int64_t)nd4c_cpu_dtype_bytes(x->dtype);
  }
  for (int32_t axis = 0; axis < x->rank; axis++) {
    if (axis != first && axis != second) {
      d->shape[d->tensor.rank] = x->shape[axis];
      d->strides[d->tensor.rank++] = x->strides[axis];
    }
  }
  d->shape[d->tensor.rank] = length;
  d->strides[d->tensor.rank++] = x->strides[first] + x->strides[second];
}

static nd4c_status run_trace(const nd4c_call *call) {
  static const int64_t last = -1;
  const nd4c_attr_value axes = {.kind = ND4C_ATTR_INTS, .count = 1, .as.ints = &last};
  nd4c_call inner = *call;
  diagonal d;
  diagonal_of(call, &d);
  inner.inputs = &d.tensor;
  return nd4c_simd_reduce(&inner, ND4C_REDUCE_sum, &axes, false);
}

static bool usable_trace(const nd4c_call *call, char *reason, size_t reason_size) {
  diagonal d;
  diagonal_of(call, &d);
  ND4C_CPU_DECLINE_IF(d.tensor.size == 0, "nothing to reduce");
  return true;
}

/* -- reductions over axes ------------------------------------------------------------------------------------------ */

/* X(op, name of the kernel, dtypes, usable, kind, lines, term, folds, store, finish) */
#define F ND4C_CPU_FLOATS
#define R ND4C_CPU_REALS
#define RB (ND4C_CPU_REALS | ND4C_CPU_BOOLS)
#define SUMS ND4C_REDUCE_sum, ND4C_REDUCE_sum, ND4C_REDUCE_sum
#define OPS(X)                                                                                                         \
  X(all, "all_nonzero", R, usable, TRUTHS, 1, nonzero, (ND4C_REDUCE_min), store_elements, NULL)                        \
  X(any, "any_nonzero", R, usable, TRUTHS, 1, nonzero, (ND4C_REDUCE_max), store_elements, NULL)                        \
  X(count_nonzero, "count_nonzero_over_axes", RB, usable, COUNTS, 1, nonzero, (SUMS), store_counts, first_line)        \
  X(count_zero, "count_zero", RB, usable, COUNTS, 1, zero, (SUMS), store_counts, first_line)                           \
  X(zero_fraction, "zero_fraction", RB, usable, COUNTS, 1, zero, (SUMS), store_counts, share_of_count)                 \
  X(entropy, "entropy", F, usable, DOUBLES, 1, entropy, (SUMS), store_doubles, first_line)                             \
  X(log_entropy, "log_entropy", F, usable, DOUBLES, 1, entropy, (SUMS), store_doubles, logarithm)                      \
  X(shannon_entropy, "shannon_entropy", F, usable, DOUBLES, 1, shannon, (SUMS), store_doubles, first_line)             \
  X(abs_min, "abs_min", F, usable, OWN, 1, magnitude, (ND4C_REDUCE_min), store_elements, NULL)                         \
  X(ptp, "ptp", R, usable, OWN, 2, COUNT, (ND4C_REDUCE_max, ND4C_REDUCE_min), store_ranges, NULL)                      \
  X(nansum, "nansum", F, usable, DOUBLES, 1, known, (SUMS), store_doubles, first_line)                                 \
  X(nanprod, "nanprod", F, usable, DOUBLES, 1, known_factor, (ND4C_REDUCE_prod), store_doubles, first_line)            \
  X(nanmean, "nanmean", F, usable, DOUBLES, 2, counted, (SUMS), store_doubles, first_by_second)                        \
  X(nanmax, "nanmax", F, usable, OWN, 1, known_largest, (ND4C_REDUCE_max), store_known, NULL)                          \
  X(nanmin, "nanmin", F, usable, OWN, 1, known_smallest, (ND4C_REDUCE_min), store_known, NULL)                         \
  X(cosine_similarity, "cosine_similarity", F, usable_pair, DOUBLES, 3, products, (SUMS), store_doubles, cosine)       \
  X(euclidean_distance, "euclidean_distance", F, usable_pair, DOUBLES, 1, squared_distance, (SUMS), store_doubles,     \
    root)                                                                                                              \
  X(manhattan_distance, "manhattan_distance", F, usable_pair, DOUBLES, 1, distance, (SUMS), store_doubles, first_line) \
  X(hamming_distance, "hamming_distance", F, usable_pair, DOUBLES, 1, differing, (SUMS), store_doubles, first_line)    \
  X(jaccard_distance, "jaccard_distance", F, usable_pair, DOUBLES, 2, extremes, (SUMS), store_doubles, jaccard)

#define UNPACKED(...) __VA_ARGS__
#define DEFINE_OP(op, name, dtypes, usable, kind, lines, term, folds, ...)                         \
  static nd4c_status run_##op(const nd4c_call *call) {                                             \
    static const recipe op##_row = {kind, lines, ND4C_TERM_##term, {UNPACKED folds}, __VA_ARGS__}; \
    return reduce_rows(call, &op##_row);                                                           \
  }
OPS(DEFINE_OP)

/* Several are asked after the kernels of the op that take fewer calls. */
#define KERNEL(op, name, dtypes, usable, ...) \
  ND4C_CPU_KERNEL("simd", op, name, ND4C_SIMD_PRIORITY - 1, dtypes, usable, run_##op),
const nd4c_kernel *const nd4c_cpu_simd_reduction_functions_kernels[] = {
    OPS(KERNEL) ND4C_CPU_SIMD_KERNEL(norm_p, F, usable, run_norm_p),
    ND4C_CPU_SIMD_KERNEL(vector_norm, F, usable, run_vector_norm),
    ND4C_CPU_SIMD_KERNEL(trace, R, usable_trace, run_trace), NULL};
