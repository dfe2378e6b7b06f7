/* How far two results of one graph may be apart. trial.c asks for each output of each plan.
 *
 * Where only exact passes rewrote the graph, results are the same bits (any NaN equals any NaN). Elsewhere the
 * tolerance of an element is measured, not guessed: the graph is computed several times by eager calls whose operands
 * are moved by at most two units in the last place, and an element may differ by FACTOR times the largest difference
 * that this makes. So a sum that cancels gets a wide tolerance and a transpose none. NaN and infinities must be where
 * they were, unless the moved operands change them, too. Zeros among the moved operands get random signs, because a sum
 * in another order may have another one. Where the request allows another order, NaN and infinities of products
 * become one another by random, because (A B) x may have a sum of infinities where A (B x) has one of them alone. Then
 * an element is right if it is as near as the other one to the same graph in float64.
 *
 * At last the operands are moved FACTOR times as far, and a FACTOR-th of the difference counts. Where an op is
 * continuous this allows no more than before. A comparison jumps, however: it may give the other answer for as large a
 * difference of its operands as numbers may have.
 *
 * Where a plan is asked for a precision, the operands are moved by its roundings instead: all by half a unit in the
 * last place of bfloat16 and more, or those of products by a step of the bytes that they become. With a calibration,
 * so are those of convolutions, and values that bytes may stand for behind them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_graphs.h"

enum {
  FEW_RUNS = 6,
  MANY_RUNS = 48,
  FAR_RUNS = 96 /* those from MANY_RUNS on move the operands FACTOR times as far */
};
static const double FACTOR = 8, LAST_PLACES = 4;

typedef struct judged {
  int64_t count; /* numbers: two for each complex element */
  double *base;
  double *spread; /* largest difference of a run with moved operands; infinite: NaN or an infinity came or went */
  double *truth;  /* in float64; NULL: not computed, or it failed */
  double least;   /* allowed anywhere */
} judged;

struct rg_judge {
  const rg_sketch *sketch;
  rg_precision precision;
  nd4c_array *base[RG_PORTS];
  judged outputs[RG_PORTS];
  int32_t runs;
  bool wide; /* the graph was computed in float64 */
};

static void release_all(nd4c_array **arrays, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(arrays[i]);
  }
}

/* -- measuring ----------------------------------------------------------------------------------------------------- */

static void widen_spread(judged *output, int64_t reach, const double *numbers, int64_t count) {
  for (int64_t i = 0; i < output->count; i++) {
    const double a = output->base[i], b = i < count ? numbers[i] : (double)NAN;
    const bool same = a == b || (isnan(a) && isnan(b));
    const double apart = same ? 0 : (isfinite(a) && isfinite(b) ? fabs(a - b) / (double)reach : (double)INFINITY);
    output->spread[i] = apart > output->spread[i] ? apart : output->spread[i];
  }
}

/* Runs with moved operands until there were that many. */
static void measure(rg_judge *judge, int32_t runs) {
  for (; judge->runs < runs; judge->runs++) {
    rg_moves moves = {.random = judge->sketch->seed * 1000003 + (uint64_t)judge->runs,
                      .precision = judge->precision,
                      .reach = judge->runs < MANY_RUNS ? 1 : (int64_t)FACTOR};
    nd4c_array *outputs[RG_PORTS] = {NULL};
    const bool done = rg_compute_again(judge->sketch, false, &moves, outputs);
    for (int32_t i = 0; i < judge->sketch->output_count; i++) {
      int64_t count = 0;
      double *numbers = done ? rg_numbers(outputs[i], &count) : NULL;
      widen_spread(&judge->outputs[i], moves.reach, numbers, count); /* a refusal leaves nothing to compare */
      free(numbers);
    }
    release_all(outputs, judge->sketch->output_count);
  }
}

static void compute_truth(rg_judge *judge) {
  nd4c_array *outputs[RG_PORTS] = {NULL};
  if (!judge->wide && rg_compute_again(judge->sketch, true, NULL, outputs)) {
    for (int32_t i = 0; i < judge->sketch->output_count; i++) {
      int64_t count = 0;
      double *numbers = rg_numbers(outputs[i], &count);
      judge->outputs[i].truth = count == judge->outputs[i].count ? numbers : NULL;
      if (judge->outputs[i].truth == NULL) {
        free(numbers);
      }
    }
    release_all(outputs, judge->sketch->output_count);
  }
  judge->wide = true;
}

/* -- judging ------------------------------------------------------------------------------------------------------- */

/* Results of decompositions and solvers are right to some units in the last place of their largest element. */
static double least_allowed(const rg_sketch *sketch, const judged *output, nd4c_dtype dtype) {
  bool solves = false;
  double largest = 0;
  for (int32_t i = 0; i < sketch->node_count; i++) {
    const nd4c_op_info *op = sketch->nodes[i].op;
    solves = solves || (!sketch->nodes[i].removed && op->category == ND4C_CATEGORY_LINALG && !rg_is_product(op->op));
  }
  for (int64_t i = 0; i < output->count && solves; i++) {
    const double magnitude = isfinite(output->base[i]) ? fabs(output->base[i]) : 0;
    largest = magnitude > largest ? magnitude : largest;
  }
  return 2 * rg_least_normal(dtype) + (solves ? FACTOR * LAST_PLACES * rg_last_place(dtype, largest) : 0);
}

rg_judge *rg_judge_make(const rg_sketch *sketch, nd4c_array *const *base, rg_precision precision) {
  rg_judge *judge = rg_need(sizeof *judge);
  judge->sketch = sketch;
  judge->precision = precision;
  for (int32_t i = 0; i < sketch->output_count; i++) {
    judged *output = &judge->outputs[i];
    judge->base[i] = nd4c_array_retain(base[i]);
    output->base = rg_numbers(base[i], &output->count);
    output->least = least_allowed(sketch, output, nd4c_array_dtype(base[i]));
    output->spread = rg_need((size_t)output->count * sizeof *output->spread);
  }
  return judge;
}

void rg_judge_free(rg_judge *judge) {
  for (int32_t i = 0; i < judge->sketch->output_count; i++) {
    nd4c_array_release(judge->base[i]);
    free(judge->outputs[i].base);
    free(judge->outputs[i].spread);
    free(judge->outputs[i].truth);
  }
  free(judge);
}

static bool same_type(const nd4c_array *a, const nd4c_array *b) {
  const int32_t rank = nd4c_array_rank(a);
  return nd4c_array_dtype(a) == nd4c_array_dtype(b) && rank == nd4c_array_rank(b) &&
         memcmp(nd4c_array_shape(a), nd4c_array_shape(b), (size_t)rank * sizeof(int64_t)) == 0;
}

/* The same bits, apart from those of NaN. */
static bool same_bits(const nd4c_array *a, const nd4c_array *b) {
  size_t bytes = 0;
  void *left = rg_bytes(a, &bytes), *right = rg_bytes(b, &bytes);
  bool same = memcmp(left, right, bytes) == 0;
  free(left);
  free(right);
  if (same || rg_mantissa_bits(nd4c_array_dtype(a)) == 0) {
    return same;
  }
  int64_t count = 0;
  double *x = rg_numbers(a, &count), *y = rg_numbers(b, &count);
  same = true;
  for (int64_t i = 0; i < count && same; i++) {
    same = (isnan(x[i]) && isnan(y[i])) || (x[i] == y[i] && signbit(x[i]) == signbit(y[i]));
  }
  free(x);
  free(y);
  return same;
}

/* A number of float64 that the dtype rounds to an infinity is that. */
static double as_infinity(nd4c_dtype dtype, double number) {
  const double most = dtype == ND4C_FLOAT16 ? 65520 : dtype == ND4C_FLOAT64 ? (double)INFINITY : 0x1.ffp127;
  return fabs(number) >= most ? copysign((double)INFINITY, number) : number;
}

/* What makes an element wrong, or NULL. A precision has infinities of its own. */
static const char *fault(const judged *output, int64_t i, double got, nd4c_dtype dtype, nd4c_dtype precision) {
  const double base = output->base[i], spread = output->spread[i];
  if ((isnan(got) && isnan(base)) || isinf(spread) || got == base) {
    return NULL;
  }
  if (precision != ND4C_DTYPE_NONE && (!isfinite(got) || !isfinite(base))) {
    return NULL;
  }
  const nd4c_dtype unit = precision == ND4C_BFLOAT16 && dtype == ND4C_FLOAT32 ? precision : dtype;
  const double allowed = FACTOR * spread + LAST_PLACES * rg_last_place(unit, base) + output->least;
  if (isfinite(got) && isfinite(base) && fabs(got - base) <= allowed) {
    return NULL;
  }
  /* An infinity, where the other one has NaN or another. */
  if (output->truth != NULL && got == as_infinity(dtype, output->truth[i])) {
    return NULL;
  }
  if (output->truth != NULL && isfinite(got) && isfinite(output->truth[i])) {
    const double truth = output->truth[i], near = fabs(got - truth);
    const double limit = isfinite(base) ? fabs(base - truth) : 1e-3 * fabs(truth);
    if (near <= limit + LAST_PLACES * rg_last_place(dtype, truth)) {
      return NULL;
    }
  }
  return isfinite(got) == isfinite(base) ? "a number" : "NaN or an infinity";
}

static const char *judge_all(const rg_judge *judge, int32_t index, const double *got, nd4c_dtype dtype, char *text,
                             size_t size) {
  const judged *output = &judge->outputs[index];
  for (int64_t i = 0; i < output->count; i++) {
    const char *what = fault(output, i, got[i], dtype, judge->precision.dtype);
    if (what != NULL) {
      (void)snprintf(text, size,
                     "output %d, element %lld: %s: %.9g instead of %.9g (moved operands: %.3g; float64: %.9g)",
                     (int)index, (long long)i, what, got[i], output->base[i], output->spread[i],
                     output->truth == NULL ? (double)NAN : output->truth[i]);
      return text;
    }
  }
  return NULL;
}

static const char *judge_exact(const rg_judge *judge, int32_t index, const double *got, char *text, size_t size) {
  const judged *output = &judge->outputs[index];
  for (int64_t i = 0; i < output->count; i++) {
    if (!(got[i] == output->base[i] && signbit(got[i]) == signbit(output->base[i])) &&
        !(isnan(got[i]) && isnan(output->base[i]))) {
      (void)snprintf(text, size, "output %d, element %lld: %.17g instead of %.17g, though only exact passes ran",
                     (int)index, (long long)i, got[i], output->base[i]);
      return text;
    }
  }
  (void)snprintf(text, size, "output %d: integers differ", (int)index);
  return text;
}

const char *rg_judge_output(rg_judge *judge, int32_t output, const nd4c_array *got, bool exact, char *text,
                            size_t size) {
  const nd4c_array *base = judge->base[output];
  if (!same_type(base, got)) {
    (void)snprintf(text, size, "output %d: another dtype or shape", (int)output);
    return text;
  }
  if (same_bits(base, got)) {
    return NULL;
  }
  int64_t count = 0;
  double *numbers = rg_numbers(got, &count);
  const char *what = NULL;
  if (exact) {
    what = judge_exact(judge, output, numbers, text, size);
  } else {
    measure(judge, FEW_RUNS);
    what = judge_all(judge, output, numbers, nd4c_array_dtype(got), text, size);
    if (what != NULL) {
      measure(judge, MANY_RUNS);
      compute_truth(judge);
      what = judge_all(judge, output, numbers, nd4c_array_dtype(got), text, size);
    }
    if (what != NULL) {
      measure(judge, FAR_RUNS);
      what = judge_all(judge, output, numbers, nd4c_array_dtype(got), text, size);
    }
  }
  free(numbers);
  return what;
}
