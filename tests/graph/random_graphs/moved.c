/* Computes a graph again by eager calls whose operands are moved a little, as passes and other kernels may round them.
 * judge.c takes from it how far results may be apart. This file knows where passes and kernels deviate from what the
 * single ops say, as the documentation of the passes tells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random_graphs.h"

enum { COARSE = 1 << 14 }; /* units of float32 in half a unit of bfloat16 */

/* -- elements ------------------------------------------------------------------------------------------------------ */

static bool is_complex(nd4c_dtype dtype) {
  return dtype == ND4C_COMPLEX64 || dtype == ND4C_COMPLEX128;
}

double *rg_numbers(const nd4c_array *array, int64_t *count) {
  const bool complex = is_complex(nd4c_array_dtype(array));
  nd4c_array *wide = NULL;
  rg_must(nd4c_cast(array, complex ? ND4C_COMPLEX128 : ND4C_FLOAT64, &wide), "cast");
  *count = nd4c_array_size(array) * (complex ? 2 : 1);
  double *numbers = rg_need((size_t)*count * sizeof *numbers);
  rg_must(nd4c_array_read(wide, numbers, (size_t)*count * sizeof *numbers), "read");
  nd4c_array_release(wide);
  return numbers;
}

void *rg_bytes(const nd4c_array *array, size_t *bytes) {
  *bytes = (size_t)(nd4c_array_size(array) * nd4c_dtype_size(nd4c_array_dtype(array)));
  void *data = rg_need(*bytes);
  rg_must(nd4c_array_read(array, data, *bytes), "read");
  return data;
}

int rg_mantissa_bits(nd4c_dtype dtype) {
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

double rg_last_place(nd4c_dtype dtype, double number) {
  static const int least[] = {[10] = -24, [7] = -133, [23] = -149, [52] = -1074};
  const int bits = rg_mantissa_bits(dtype);
  if (bits == 0 || !isfinite(number)) {
    return 0;
  }
  const double place = ldexp(fabs(number), -bits), smallest = ldexp(1, least[bits]);
  return place > smallest ? place : smallest;
}

double rg_least_normal(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT64 || dtype == ND4C_COMPLEX128 ? 0x1p-1022 : (dtype == ND4C_FLOAT16 ? 0x1p-14 : 0x1p-126);
}

/* -- moved operands ------------------------------------------------------------------------------------------------ */

/* Steps of a floating number as the number of its bits without the sign. Zeros and NaN may change the sign; infinities
 * stay. */
static uint64_t moved(uint64_t bits, nd4c_dtype dtype, int64_t step) {
  const int width = dtype == ND4C_FLOAT64 ? 64 : (dtype == ND4C_FLOAT32 ? 32 : 16), mantissa = rg_mantissa_bits(dtype);
  const uint64_t sign = UINT64_C(1) << (width - 1), magnitude = bits & (sign - 1);
  const uint64_t infinity = (sign - 1) >> mantissa << mantissa;
  const int64_t next = (int64_t)magnitude + step;
  if (magnitude == 0 || magnitude > infinity) {
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
  unsigned char *data = rg_bytes(array, &bytes);
  double *numbers = rg_numbers(array, &count);
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

/* Where results deviate from what the ops say, as doc lines of passes tell. gelu is right to some units in the last
 * place of x, not of its result, which is much smaller for x below -2. Activations that are products of x with a
 * function of x give their limit -0 for minus infinity, where the product is NaN (swish). The fast kernels of swish
 * divide by 1 + e^-x, which is infinite where sigmoid is not yet 0. */
static bool deviates(nd4c_op op) {
  return op == ND4C_OP_gelu || op == ND4C_OP_multiply || op == ND4C_OP_divide || op == ND4C_OP_sigmoid;
}

static double deviated(nd4c_op op, double from, double to, bool loses, double step, double least) {
  switch (op) {
    case ND4C_OP_sigmoid:
      return loses && fabs(to) < least ? 0 : to;
    case ND4C_OP_gelu:
      return isinf(from) ? to : loses && fabs(to) < 4 * fabs(step) ? 0 : to + step;
    default:
      return isnan(to) && isinf(from) && loses ? -0.0 : to;
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
  double *from = rg_numbers(x, &from_count), *to = rg_numbers(*result, &count);
  const bool loses = rg_random(random) % 2 == 0;
  for (int64_t i = 0; i < count && count == from_count; i++) {
    const double step = (double)((int64_t)(rg_random(random) % 5) - 2) * rg_last_place(dtype, from[i]);
    to[i] = deviated(op, from[i], to[i], loses, step, rg_least_normal(dtype));
  }
  put_numbers(result, to);
  free(from);
  free(to);
}

/* -- conversions to bytes ------------------------------------------------------------------------------------------ */

static double largest_of(const nd4c_array *array) {
  int64_t count = 0;
  double largest = 0, *numbers = rg_numbers(array, &count);
  for (int64_t i = 0; i < count; i++) {
    largest = isfinite(numbers[i]) && fabs(numbers[i]) > largest ? fabs(numbers[i]) : largest;
  }
  free(numbers);
  return largest;
}

/* How far an operand is moved beyond its last places. What lies near the middle between two bytes may become either
 * one: sums of bytes are rounded elsewhere than sums of float32 (passes quantized_*.c, kernels of qlinear_conv). */
static double slack(nd4c_op op, int32_t input, nd4c_array *const *operands, rg_precision precision) {
  /* In steps. The pass quantized_conv rounds a bias by up to a quarter of one. */
  const double near_middle = precision.dtype == ND4C_DTYPE_NONE ? 0.25 : 1;
  const bool first = input == 0,
             product = op == ND4C_OP_matmul || op == ND4C_OP_linear || (op == ND4C_OP_conv && precision.calibrated);
  if (first && op == ND4C_OP_quantize_linear && nd4c_array_size(operands[1]) == 1) {
    return largest_of(operands[1]) * near_middle;
  }
  if (first && op == ND4C_OP_dynamic_quantize_linear) {
    return 2 * largest_of(operands[0]) / 255 * near_middle;
  }
  if (precision.dtype == ND4C_INT8 && product && input < 2) {
    return largest_of(operands[input]) * 2 / 255;
  }
  return 0;
}

/* Whether slack moves a value of this dtype. Products of 16 bits, too, become products of bytes: widen lets them
 * compute in float32, and quantize asks for no more. */
static bool may_shake(const rg_moves *moves, nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT32 ||
         (moves->precision.dtype == ND4C_INT8 && (dtype == ND4C_FLOAT16 || dtype == ND4C_BFLOAT16));
}

static void shake(nd4c_array **array, double most, uint64_t *random) {
  int64_t count = 0;
  double *numbers = rg_numbers(*array, &count);
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
  double *numbers = rg_numbers(*result, &count);
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
  double *numbers = rg_numbers(*result, &count);
  for (int64_t i = 0; i < count; i++) {
    numbers[i] = isfinite(numbers[i]) ? numbers[i] : any[rg_random(random) % 3];
  }
  put_numbers(result, numbers);
  free(numbers);
}

/* Ops whose weights passes change. Round leaves of other ops, exponents above all, stay as they are. */
bool rg_is_product(nd4c_op op) {
  return op == ND4C_OP_conv || op == ND4C_OP_matmul || op == ND4C_OP_linear || op == ND4C_OP_batch_norm;
}

/* An eager call of an element-wise op. */
static nd4c_array *call(nd4c_op op, const nd4c_array *a, const nd4c_array *b) {
  nd4c_array *made = NULL;
  rg_must(nd4c_op_call_positional(NULL, op, (const nd4c_array *const[]){a, b}, b == NULL ? 1 : 2, NULL, &made), "op");
  return made;
}

/* Lets neighbours be equal or not by random: moved operands seldom meet each other exactly. */
static void blur_equality(nd4c_array *const *operands, rg_moves *moves, nd4c_array **result) {
  const nd4c_dtype dtype = nd4c_array_dtype(operands[0]);
  nd4c_array *a = widened(operands[0], true), *b = widened(operands[1], true);
  nd4c_array *steps[] = {call(ND4C_OP_subtract, a, b), call(ND4C_OP_add, a, b)};
  int64_t count = 0;
  double *apart = rg_numbers(steps[0], &count), *sum = rg_numbers(steps[1], &count);
  double *truth = rg_numbers(*result, &count);
  for (int64_t i = 0; i < count; i++) { /* where they are near each other, the sum is twice as large */
    const bool near = fabs(apart[i]) <= 2.0 * (double)moves->reach * rg_last_place(dtype, sum[i] / 2);
    truth[i] = near && rg_random(&moves->random) % 2 == 0 ? 1 - truth[i] : truth[i];
  }
  put_numbers(result, truth);
  release_all(steps, 2);
  nd4c_array_release(a);
  nd4c_array_release(b);
  free(apart);
  free(sum);
  free(truth);
}

/* Lets what is near 0 be true or not by random, where a value of bytes may be exactly 0. */
static void blur_truth(const nd4c_array *x, uint64_t *random, nd4c_array **result) {
  const double near = largest_of(x) * 2 / 255;
  int64_t count = 0, truth_count = 0;
  double *numbers = rg_numbers(x, &count), *truth = rg_numbers(*result, &truth_count);
  for (int64_t i = 0; i < count && count == truth_count; i++) {
    truth[i] = fabs(numbers[i]) <= near && rg_random(random) % 2 == 0 ? 1 - truth[i] : truth[i];
  }
  put_numbers(result, truth);
  free(numbers);
  free(truth);
}

/* The node's operands, moved where `moves` is given; one reference each. */
static void move_operands(const rg_sketch *sketch, const rg_node *node, rg_moves *moves, nd4c_array *const *values,
                          nd4c_array **operands) {
  const nd4c_op op = node->op->op;
  for (int32_t i = 0; i < node->input_count; i++) {
    nd4c_array *operand = node->inputs[i] < 0 ? NULL : values[node->inputs[i]];
    const bool moving = operand != NULL && moves != NULL && rg_is_float(nd4c_array_dtype(operand));
    const bool leaf = moving && sketch->values[node->inputs[i]].node < 0;
    const bool coarse = moving && moves->precision.dtype == ND4C_BFLOAT16 && nd4c_array_dtype(operand) == ND4C_FLOAT32;
    operands[i] = moving ? move_elements(operand, !leaf || rg_is_product(op), moves->reach * (coarse ? COARSE : 1),
                                         &moves->random)
                         : nd4c_array_retain(operand);
  }
  for (int32_t i = 0; i < node->input_count && moves != NULL; i++) {
    const bool shakes = operands[i] != NULL && may_shake(moves, nd4c_array_dtype(operands[i]));
    const double most = shakes ? slack(op, i, operands, moves->precision) : 0;
    if (most > 0) {
      shake(&operands[i], most, &moves->random);
    }
  }
}

/* The node that gives the value; NULL: a leaf. */
static const rg_node *node_of(const rg_sketch *sketch, int32_t value) {
  const int32_t node = value < 0 ? -1 : sketch->values[value].node;
  return node < 0 ? NULL : &sketch->nodes[node];
}

/* Whether the pass fold_affine may merge the node into the convolution in front of it, whose bytes are then those of
 * the node's result: where channels get different factors, the largest one decides how far apart all bytes are. */
static bool joins_conv(const rg_sketch *sketch, const rg_node *node) {
  for (int32_t depth = 0; node != NULL && depth < sketch->node_count; depth++) {
    const rg_node *first = node_of(sketch, node->inputs[0]), *second = NULL;
    switch (node->op->op) {
      case ND4C_OP_conv:
        return true;
      case ND4C_OP_add:
      case ND4C_OP_multiply:
        second = node_of(sketch, node->inputs[1]);
        node = first != NULL ? first : second;
        break;
      case ND4C_OP_batch_norm:
      case ND4C_OP_divide:
      case ND4C_OP_subtract:
        node = first;
        break;
      default:
        return false;
    }
  }
  return false;
}

/* Whether the pass quantize may give the node's result as bytes, by a calibration: a convolution, what bounds it, and
 * sums and concats of such values. */
static bool becomes_bytes(const rg_sketch *sketch, const rg_node *node) {
  const nd4c_op op = node->op->op;
  return op == ND4C_OP_relu || op == ND4C_OP_clip || op == ND4C_OP_add || op == ND4C_OP_concat ||
         joins_conv(sketch, node);
}

/* What passes and kernels may make of the first result, apart from what the moved operands do. */
static void move_result(const rg_sketch *sketch, const rg_node *node, rg_moves *moves, nd4c_array *const *operands,
                        nd4c_array **result) {
  const nd4c_op op = node->op->op;
  const bool real = rg_is_float(nd4c_array_dtype(*result));
  for (int32_t i = 0; i < node->input_count && real && deviates(op); i++) {
    if (operands[i] != NULL) {
      deviate(op, operands[i], result, &moves->random);
    }
  }
  if (is_shared_out(sketch, node) && rg_random(&moves->random) % 2 == 0) {
    lose_nan(result);
  }
  if (real && rg_is_product(op) && rg_reorders(sketch) && rg_random(&moves->random) % 2 == 0) {
    exchange_infinities(result, &moves->random);
  }
  if (moves->precision.calibrated && becomes_bytes(sketch, node) && nd4c_array_dtype(*result) == ND4C_FLOAT32) {
    shake(result, largest_of(*result) * 2 / 255, &moves->random);
  }
  if (op == ND4C_OP_cast && nd4c_array_dtype(*result) == ND4C_BOOL && moves->precision.dtype == ND4C_INT8 &&
      rg_is_float(nd4c_array_dtype(operands[0]))) {
    blur_truth(operands[0], &moves->random, result);
  }
  if ((op == ND4C_OP_equal || op == ND4C_OP_not_equal) && rg_is_float(nd4c_array_dtype(operands[0]))) {
    blur_equality(operands, moves, result);
  }
}

/* One node by an eager call. */
static nd4c_status compute_node(const rg_sketch *sketch, const rg_node *node, bool wide, rg_moves *moves,
                                nd4c_array **values) {
  nd4c_array *operands[RG_INPUTS] = {NULL}, *outputs[RG_OUTPUTS] = {NULL};
  nd4c_attr_value attrs[RG_ATTRS];
  rg_node_attrs(node, wide, attrs);
  move_operands(sketch, node, moves, values, operands);
  const nd4c_status status = nd4c_op_call_positional(NULL, node->op->op, (const nd4c_array *const *)operands,
                                                     node->input_count, attrs, outputs);
  if (status == ND4C_OK && moves != NULL) {
    move_result(sketch, node, moves, operands, &outputs[0]);
  }
  for (int32_t i = 0; i < node->op->output_count && status == ND4C_OK; i++) {
    values[node->outputs[i]] = outputs[i];
  }
  release_all(operands, node->input_count);
  return status;
}

bool rg_compute_again(const rg_sketch *sketch, bool wide, rg_moves *moves, nd4c_array **outputs) {
  nd4c_array *values[RG_VALUES] = {NULL};
  for (int32_t i = 0; i < sketch->value_count; i++) {
    values[i] = sketch->values[i].node < 0 ? widened(sketch->values[i].array, wide) : NULL;
  }
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < sketch->node_count && status == ND4C_OK; i++) {
    if (!sketch->nodes[i].removed) {
      status = compute_node(sketch, &sketch->nodes[i], wide, moves, values);
    }
  }
  for (int32_t i = 0; i < sketch->output_count && status == ND4C_OK; i++) {
    outputs[i] = nd4c_array_retain(values[sketch->outputs[i]]);
  }
  release_all(values, sketch->value_count);
  return status == ND4C_OK;
}
