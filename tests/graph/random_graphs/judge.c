/* How far two results of one graph may be apart. trial.c asks for each output of each plan.
 *
 * Where only exact passes rewrote the graph, results are the same bits (any NaN equals any NaN). Elsewhere the
 * tolerance of an element is measured, not guessed: the graph is computed several times by eager calls whose operands
 * are moved by at most two units in the last place, and an element may differ by FACTOR times the largest difference
 * that this makes. So a sum that cancels gets a wide tolerance and a transpose none. NaN and infinities must be where
 * they were, unless the moved operands change them, too. Zeros among the moved operands get random signs, because a sum
 * in another order may have another one. Where the request allows another order, NaN and infinities of products
 * become one another by random, because (A B) x may have a sum of infinities where A (B x) has one of them alone. At
 * last, an element is right if it is as near as the other one to the same
 * graph in float64.
 *
 * Where a plan is asked for a precision, the operands are moved by its roundings instead: all by half a unit in the
 * last place of bfloat16 and more, or those of products by a step of the bytes that they become. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_graphs.h"

enum { FEW_RUNS = 6, MANY_RUNS = 48 };
enum { COARSE = 1 << 14 }; /* units of float32 in half a unit of bfloat16 */
static const double FACTOR = 8, LAST_PLACES = 4;
/* Engines may flush smaller results to 0. */
static double least_normal(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT64 || dtype == ND4C_COMPLEX128 ? 0x1p-1022 : (dtype == ND4C_FLOAT16 ? 0x1p-14 : 0x1p-126);
}

typedef struct judged {
  int64_t count; /* numbers: two for each complex element */
  double *base;
  double *spread; /* largest difference of a run with moved operands; infinite: NaN or an infinity came or went */
  double *truth;  /* in float64; NULL: not computed, or it failed */
  double least;   /* allowed anywhere */
} judged;

struct rg_judge {
  const rg_sketch *sketch;
  nd4c_dtype precision; /* ND4C_DTYPE_NONE: float32's own */
  nd4c_array *base[RG_PORTS];
  judged outputs[RG_PORTS];
  int32_t runs;
  bool wide; /* the graph was computed in float64 */
};

/* -- elements ------------------------------------------------------------------------------------------------------ */

static bool is_complex(nd4c_dtype dtype) {
  return dtype == ND4C_COMPLEX64 || dtype == ND4C_COMPLEX128;
}

static double *read_numbers(const nd4c_array *array, int64_t *count) {
  const bool complex = is_complex(nd4c_array_dtype(array));
  nd4c_array *wide = NULL;
  rg_must(nd4c_cast(array, complex ? ND4C_COMPLEX128 : ND4C_FLOAT64, &wide), "cast");
  *count = nd4c_array_size(array) * (complex ? 2 : 1);
  double *numbers = rg_need((size_t)*count * sizeof *numbers);
  rg_must(nd4c_array_read(wide, numbers, (size_t)*count * sizeof *numbers), "read");
  nd4c_array_release(wide);
  return numbers;
}

static void *read_bytes(const nd4c_array *array, size_t *bytes) {
  *bytes = (size_t)(nd4c_array_size(array) * nd4c_dtype_size(nd4c_array_dtype(array)));
  void *data = rg_need(*bytes);
  rg_must(nd4c_array_read(array, data, *bytes), "read");
  return data;
}

/* Mantissa bits; 0 if the dtype is not a floating one. */
static int mantissa_bits(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_FLOAT16:
      return 10;
    case ND4C_BFLOAT16:
      return 7;
    case ND4C_FLOAT32:
    case ND4C_COMPLEX64:
      return 23;
    case ND4C_FLOAT64:
    case ND4C_COMPLEX128:
      return 52;
    default:
      return 0;
  }
}

/* The distance of neighbours near a number; nearly so among subnormal ones. */
static double last_place(nd4c_dtype dtype, double number) {
  static const int least[] = {[10] = -24, [7] = -133, [23] = -149, [52] = -1074};
  const int bits = mantissa_bits(dtype);
  if (bits == 0 || !isfinite(number)) {
    return 0;
  }
  const double place = ldexp(fabs(number), -bits), smallest = ldexp(1, least[bits]);
  return place > smallest ? place : smallest;
}

/* -- moved operands ------------------------------------------------------------------------------------------------ */

/* Steps of a floating number as the number of its bits without the sign. Zeros may change the sign; infinities and NaN
 * stay. */
static uint64_t moved(uint64_t bits, nd4c_dtype dtype, int64_t step) {
  const int width = dtype == ND4C_FLOAT64 ? 64 : (dtype == ND4C_FLOAT32 ? 32 : 16), mantissa = mantissa_bits(dtype);
  const uint64_t sign = UINT64_C(1) << (width - 1), magnitude = bits & (sign - 1);
  const uint64_t infinity = (sign - 1) >> mantissa << mantissa;
  const int64_t next = (int64_t)magnitude + step;
  if (magnitude == 0) {
    return step > 0 ? bits ^ sign : bits;
  }
  return magnitude >= infinity || next < 1 || next >= (int64_t)infinity ? bits : (bits & sign) | (uint64_t)next;
}

/* A copy whose elements are moved by -2 .. 2 times `units` units in the last place, `round` ones too or not. */
static nd4c_array *move_elements(const nd4c_array *array, bool round, int64_t units, uint64_t *random) {
  const nd4c_dtype dtype = nd4c_array_dtype(array);
  const size_t each = (size_t)nd4c_dtype_size(dtype);
  size_t bytes = 0;
  int64_t count = 0;
  unsigned char *data = read_bytes(array, &bytes);
  double *numbers = read_numbers(array, &count);
  for (int64_t i = 0; i < count; i++) {
    uint64_t element = 0;
    memcpy(&element, data + (size_t)i * each, each);
    const int64_t step = ((int64_t)(rg_random(random) % 5) - 2) * units;
    element = !round && rint(4 * numbers[i]) == 4 * numbers[i] ? element : moved(element, dtype, step);
    memcpy(data + (size_t)i * each, &element, each);
  }
  nd4c_array *copy = NULL;
  rg_must(nd4c_array_from_data(dtype, nd4c_array_rank(array), nd4c_array_shape(array), data, NULL, &copy), "array");
  free(data);
  free(numbers);
  return copy;
}

/* -- computing the graph once more --------------------------------------------------------------------------------- */

static void release_all(nd4c_array **arrays, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(arrays[i]);
  }
}

static nd4c_array *widened(nd4c_array *array, bool wide) {
  nd4c_array *made = NULL;
  if (!wide || !rg_is_float(nd4c_array_dtype(array))) {
    return nd4c_array_retain(array);
  }
  rg_must(nd4c_cast(array, ND4C_FLOAT64, &made), "cast");
  return made;
}

/* Where results deviate from what the ops say, as doc lines of passes tell. oneDNN's kernels that apply relu to their
 * result make 0 of NaN, those that apply gelu or swish make NaN of an infinity, however it was spelled, and clip of NaN
 * may be a bound (fuse_activation). gelu
 * is right to some units in the last place of x, not of its result, which is much smaller for x below -2. Activations
 * that are products of x with a function of x give their limit -0 for minus infinity, where the product is NaN
 * (swish). The fast kernels of swish divide by 1 + e^-x, which is infinite where sigmoid is not yet 0. */
static bool deviates(nd4c_op op) {
  return op == ND4C_OP_gelu || op == ND4C_OP_relu || op == ND4C_OP_erf || op == ND4C_OP_tanh ||
         op == ND4C_OP_multiply || op == ND4C_OP_divide || op == ND4C_OP_clip || op == ND4C_OP_sigmoid;
}

static double deviated(nd4c_op op, double from, double to, bool loses, double step, double least) {
  switch (op) {
    case ND4C_OP_sigmoid:
      return loses && fabs(to) < least ? 0 : to;
    case ND4C_OP_relu:
    case ND4C_OP_clip: /* between 0 and 6; clip between other bounds keeps NaN, which this allows as well */
      return isnan(to) && loses ? 0 : to;
    case ND4C_OP_gelu:
      if (isinf(from)) {
        return loses ? (double)NAN : (from > 0 ? from : -0.0);
      }
      return loses && fabs(to) < 4 * fabs(step) ? 0 : to + step;
    case ND4C_OP_multiply:
    case ND4C_OP_divide:
      return isnan(to) && isinf(from) && loses ? -0.0 : to;
    default:
      return isinf(from) && loses ? (double)NAN : to;
  }
}

/* Replaces the elements of an array. */
static void put_numbers(nd4c_array **array, const double *numbers) {
  nd4c_array *wide = NULL, *made = NULL;
  rg_must(nd4c_array_from_data(ND4C_FLOAT64, nd4c_array_rank(*array), nd4c_array_shape(*array), numbers, NULL, &wide),
          "array");
  rg_must(nd4c_cast(wide, nd4c_array_dtype(*array), &made), "cast");
  nd4c_array_release(wide);
  nd4c_array_release(*array);
  *array = made;
}

/* The elements of a result, each from that of an operand of the same shape. */
static void deviate(nd4c_op op, const nd4c_array *x, nd4c_array **result, uint64_t *random) {
  const nd4c_dtype dtype = nd4c_array_dtype(*result);
  int64_t from_count = 0, count = 0;
  double *from = read_numbers(x, &from_count), *to = read_numbers(*result, &count);
  const bool loses = rg_random(random) % 2 == 0;
  for (int64_t i = 0; i < count && count == from_count; i++) {
    const double step = (double)((int64_t)(rg_random(random) % 5) - 2) * last_place(dtype, from[i]);
    to[i] = deviated(op, from[i], to[i], loses, step, least_normal(dtype));
  }
  put_numbers(result, to);
  free(from);
  free(to);
}

/* -- conversions to bytes ------------------------------------------------------------------------------------------ */

static double largest_of(const nd4c_array *array) {
  int64_t count = 0;
  double largest = 0, *numbers = read_numbers(array, &count);
  for (int64_t i = 0; i < count; i++) {
    largest = isfinite(numbers[i]) && fabs(numbers[i]) > largest ? fabs(numbers[i]) : largest;
  }
  free(numbers);
  return largest;
}

/* How far an operand is moved beyond its last places. What lies near the middle between two bytes may become either
 * one: sums of bytes are rounded elsewhere than sums of float32 (passes quantized_*.c, kernels of qlinear_conv). */
static double slack(nd4c_op op, int32_t input, nd4c_array *const *operands, nd4c_dtype precision) {
  /* In steps. The pass quantized_conv rounds a bias by up to a quarter of one. */
  const double near_middle = precision == ND4C_DTYPE_NONE ? 0.25 : 1;
  const bool first = input == 0, product = op == ND4C_OP_matmul || op == ND4C_OP_linear;
  if (first && op == ND4C_OP_quantize_linear && nd4c_array_size(operands[1]) == 1) {
    return largest_of(operands[1]) * near_middle;
  }
  if (first && op == ND4C_OP_dynamic_quantize_linear) {
    return 2 * largest_of(operands[0]) / 255 * near_middle;
  }
  if (precision == ND4C_INT8 && product && input < 2) {
    return largest_of(operands[input]) * 2 / 255;
  }
  return 0;
}

static void shake(nd4c_array **array, double most, uint64_t *random) {
  int64_t count = 0;
  double *numbers = read_numbers(*array, &count);
  for (int64_t i = 0; i < count; i++) {
    numbers[i] += most * ((double)(rg_random(random) >> 11) * 0x1p-52 - 1);
  }
  put_numbers(array, numbers);
  free(numbers);
}

/* Whether the node is a product with shares that softmax gives. attention, which takes its place, leaves out an
 * infinite value whose share is 0, where the product is NaN. */
static bool is_shared_out(const rg_sketch *sketch, const rg_node *node) {
  const int32_t shares = node->op->op == ND4C_OP_matmul ? node->inputs[0] : -1;
  const int32_t from = shares < 0 ? -1 : sketch->values[shares].node;
  return from >= 0 && sketch->nodes[from].op->op == ND4C_OP_softmax;
}

/* Puts 0 in place of NaN. */
static void lose_nan(nd4c_array **result) {
  int64_t count = 0;
  double *numbers = read_numbers(*result, &count);
  for (int64_t i = 0; i < count; i++) {
    numbers[i] = isnan(numbers[i]) ? 0 : numbers[i];
  }
  put_numbers(result, numbers);
  free(numbers);
}

/* Lets NaN and infinities of a sum become one another. */
static void exchange_infinities(nd4c_array **result, uint64_t *random) {
  static const double any[] = {NAN, INFINITY, -INFINITY};
  int64_t count = 0;
  double *numbers = read_numbers(*result, &count);
  for (int64_t i = 0; i < count; i++) {
    numbers[i] = isfinite(numbers[i]) ? numbers[i] : any[rg_random(random) % 3];
  }
  put_numbers(result, numbers);
  free(numbers);
}

/* Ops whose weights passes change. Round leaves of other ops, exponents above all, stay as they are. */
static bool is_product(nd4c_op op) {
  return op == ND4C_OP_conv || op == ND4C_OP_matmul || op == ND4C_OP_linear || op == ND4C_OP_batch_norm;
}

/* The node's operands, moved where `random` is given; one reference each. */
static void move_operands(const rg_judge *judge, const rg_node *node, uint64_t *random, nd4c_array *const *values,
                          nd4c_array **operands) {
  const nd4c_op op = node->op->op;
  for (int32_t i = 0; i < node->input_count; i++) {
    nd4c_array *operand = node->inputs[i] < 0 ? NULL : values[node->inputs[i]];
    const bool moves = operand != NULL && random != NULL && rg_is_float(nd4c_array_dtype(operand));
    const bool leaf = moves && judge->sketch->values[node->inputs[i]].node < 0;
    const bool coarse = moves && judge->precision == ND4C_BFLOAT16 && nd4c_array_dtype(operand) == ND4C_FLOAT32;
    operands[i] = moves ? move_elements(operand, !leaf || is_product(op), coarse ? COARSE : 1, random)
                        : nd4c_array_retain(operand);
  }
  for (int32_t i = 0; i < node->input_count && random != NULL; i++) {
    const bool moves = operands[i] != NULL && nd4c_array_dtype(operands[i]) == ND4C_FLOAT32;
    const double most = moves ? slack(op, i, operands, judge->precision) : 0;
    if (most > 0) {
      shake(&operands[i], most, random);
    }
  }
}

/* One node by an eager call. *random NULL: with the operands as they are. */
static nd4c_status compute_node(const rg_judge *judge, const rg_node *node, bool wide, uint64_t *random,
                                nd4c_array **values) {
  const rg_sketch *sketch = judge->sketch;
  nd4c_array *operands[RG_INPUTS] = {NULL}, *outputs[RG_OUTPUTS] = {NULL};
  nd4c_attr_value attrs[RG_ATTRS];
  const nd4c_op op = node->op->op;
  rg_node_attrs(node, wide, attrs);
  move_operands(judge, node, random, values, operands);
  const nd4c_status status = nd4c_op_call_positional(NULL, node->op->op, (const nd4c_array *const *)operands,
                                                     node->input_count, attrs, outputs);
  const bool changes = status == ND4C_OK && random != NULL && deviates(op) && rg_is_float(nd4c_array_dtype(outputs[0]));
  for (int32_t i = 0; i < node->input_count && changes; i++) {
    if (operands[i] != NULL) {
      deviate(op, operands[i], &outputs[0], random);
    }
  }
  if (status == ND4C_OK && random != NULL && is_shared_out(sketch, node) && rg_random(random) % 2 == 0) {
    lose_nan(&outputs[0]);
  }
  if (status == ND4C_OK && random != NULL && is_product(op) && rg_reorders(sketch) &&
      rg_is_float(nd4c_array_dtype(outputs[0])) && rg_random(random) % 2 == 0) {
    exchange_infinities(&outputs[0], random);
  }
  for (int32_t i = 0; i < node->op->output_count && status == ND4C_OK; i++) {
    values[node->outputs[i]] = outputs[i];
  }
  release_all(operands, node->input_count);
  return status;
}

/* Fills the outputs of the graph; false if an op refused its changed operands. */
static bool compute(const rg_judge *judge, bool wide, uint64_t *random, nd4c_array **outputs) {
  const rg_sketch *sketch = judge->sketch;
  nd4c_array *values[RG_VALUES] = {NULL};
  for (int32_t i = 0; i < sketch->value_count; i++) {
    values[i] = sketch->values[i].node < 0 ? widened(sketch->values[i].array, wide) : NULL;
  }
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < sketch->node_count && status == ND4C_OK; i++) {
    if (!sketch->nodes[i].removed) {
      status = compute_node(judge, &sketch->nodes[i], wide, random, values);
    }
  }
  for (int32_t i = 0; i < sketch->output_count && status == ND4C_OK; i++) {
    outputs[i] = nd4c_array_retain(values[sketch->outputs[i]]);
  }
  release_all(values, sketch->value_count);
  return status == ND4C_OK;
}

static void widen_spread(judged *output, const double *numbers, int64_t count) {
  for (int64_t i = 0; i < output->count; i++) {
    const double a = output->base[i], b = i < count ? numbers[i] : (double)NAN;
    const bool same = a == b || (isnan(a) && isnan(b));
    const double apart = same ? 0 : (isfinite(a) && isfinite(b) ? fabs(a - b) : (double)INFINITY);
    output->spread[i] = apart > output->spread[i] ? apart : output->spread[i];
  }
}

/* Runs with moved operands until there were that many. */
static void measure(rg_judge *judge, int32_t runs) {
  for (; judge->runs < runs; judge->runs++) {
    uint64_t random = judge->sketch->seed * 1000003 + (uint64_t)judge->runs;
    nd4c_array *outputs[RG_PORTS] = {NULL};
    const bool done = compute(judge, false, &random, outputs);
    for (int32_t i = 0; i < judge->sketch->output_count; i++) {
      int64_t count = 0;
      double *numbers = done ? read_numbers(outputs[i], &count) : NULL;
      widen_spread(&judge->outputs[i], numbers, count); /* a refusal leaves nothing to compare */
      free(numbers);
    }
    release_all(outputs, judge->sketch->output_count);
  }
}

static void compute_truth(rg_judge *judge) {
  nd4c_array *outputs[RG_PORTS] = {NULL};
  if (!judge->wide && compute(judge, true, NULL, outputs)) {
    for (int32_t i = 0; i < judge->sketch->output_count; i++) {
      int64_t count = 0;
      double *numbers = read_numbers(outputs[i], &count);
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
    solves = solves || (!sketch->nodes[i].removed && op->category == ND4C_CATEGORY_LINALG && !is_product(op->op));
  }
  for (int64_t i = 0; i < output->count && solves; i++) {
    const double magnitude = isfinite(output->base[i]) ? fabs(output->base[i]) : 0;
    largest = magnitude > largest ? magnitude : largest;
  }
  return 2 * least_normal(dtype) + (solves ? FACTOR * LAST_PLACES * last_place(dtype, largest) : 0);
}

rg_judge *rg_judge_make(const rg_sketch *sketch, nd4c_array *const *base, nd4c_dtype precision) {
  rg_judge *judge = rg_need(sizeof *judge);
  judge->sketch = sketch;
  judge->precision = precision;
  for (int32_t i = 0; i < sketch->output_count; i++) {
    judged *output = &judge->outputs[i];
    judge->base[i] = nd4c_array_retain(base[i]);
    output->base = read_numbers(base[i], &output->count);
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
  void *left = read_bytes(a, &bytes), *right = read_bytes(b, &bytes);
  bool same = memcmp(left, right, bytes) == 0;
  free(left);
  free(right);
  if (same || mantissa_bits(nd4c_array_dtype(a)) == 0) {
    return same;
  }
  int64_t count = 0;
  double *x = read_numbers(a, &count), *y = read_numbers(b, &count);
  same = true;
  for (int64_t i = 0; i < count && same; i++) {
    same = (isnan(x[i]) && isnan(y[i])) || (x[i] == y[i] && signbit(x[i]) == signbit(y[i]));
  }
  free(x);
  free(y);
  return same;
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
  const double allowed = FACTOR * spread + LAST_PLACES * last_place(unit, base) + output->least;
  if (isfinite(got) && isfinite(base) && fabs(got - base) <= allowed) {
    return NULL;
  }
  if (output->truth != NULL && isfinite(got) && isfinite(output->truth[i])) {
    const double truth = output->truth[i], near = fabs(got - truth);
    const double limit = isfinite(base) ? fabs(base - truth) : 1e-3 * fabs(truth);
    if (near <= limit + LAST_PLACES * last_place(dtype, truth)) {
      return NULL;
    }
  }
  return isfinite(got) == isfinite(base) ? "a number" : "NaN or an infinity";
}

static const char *judge_all(const rg_judge *judge, int32_t index, const double *got, nd4c_dtype dtype, char *text,
                             size_t size) {
  const judged *output = &judge->outputs[index];
  for (int64_t i = 0; i < output->count; i++) {
    const char *what = fault(output, i, got[i], dtype, judge->precision);
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
  double *numbers = read_numbers(got, &count);
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
  }
  free(numbers);
  return what;
}
