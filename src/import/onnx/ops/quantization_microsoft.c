/* Quantised operators of ONNX Runtime. Those that compute with real numbers become dequantize_linear, the op and
 * quantize_linear, as models in the QDQ form have them; passes make quantised ops of both. emission/scope.c calls the
 * emit functions through the rows below. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/emission/fused.h"
#include "import/onnx/emission/window.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

/* -- between numbers and their codes ------------------------------------------------------------------------------- */

/* The numbers of three inputs: codes, scale and, if it is given, zero point. */
static nd4c_status numbers_of(nd4c_onnx_emission *emission, int32_t first, nd4c_onnx_operand *numbers) {
  nd4c_onnx_operand inputs[3];
  for (int32_t i = 0; i < 3; i++) {
    inputs[i] = nd4c_onnx_input(emission, first + i);
  }
  ND4C_TRY(nd4c_onnx_require_input(emission, first, &inputs[0]));
  ND4C_TRY(nd4c_onnx_require_input(emission, first + 1, &inputs[1]));
  return nd4c_emit(&emission->emitter, ND4C_OP_dequantize_linear, inputs, 3, NULL, 0, numbers);
}

/* Codes of numbers by two inputs, scale and zero point; without the latter in a dtype. */
static nd4c_status codes_of(nd4c_onnx_emission *emission, nd4c_onnx_operand numbers, int32_t scale, nd4c_dtype dtype,
                            nd4c_onnx_operand *codes) {
  nd4c_onnx_operand inputs[3] = {numbers, ND4C_ONNX_OPERAND_NONE, nd4c_onnx_input(emission, scale + 1)};
  const nd4c_attr attr = nd4c_attr_of_dtype("dtype", dtype);
  ND4C_TRY(nd4c_onnx_require_input(emission, scale, &inputs[1]));
  return nd4c_emit(&emission->emitter, ND4C_OP_quantize_linear, inputs, 3, &attr, 1, codes);
}

static nd4c_dtype dtype_of(const nd4c_onnx_emission *emission, int32_t index) {
  return nd4c_emitted_get(&emission->emitter, emission->inputs[index]).dtype;
}

/* -- element by element -------------------------------------------------------------------------------------------- */

/* The row's op on the numbers of one or two operands. */
static nd4c_status emit_qlinear_unary(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand y;
  nd4c_onnx_attrs attrs = {.count = 0};
  ND4C_TRY(numbers_of(emission, 0, &y));
  if (emission->node->mapping->rules != NULL) {
    ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  }
  ND4C_TRY(nd4c_emit(&emission->emitter, emission->node->mapping->op, &y, 1, attrs.list, attrs.count, &y));
  return codes_of(emission, y, 3, dtype_of(emission, 0), &emission->outputs[0]);
}

static nd4c_status emit_qlinear_multiply(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand a, b;
  ND4C_TRY(numbers_of(emission, 0, &a));
  ND4C_TRY(numbers_of(emission, 3, &b));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_multiply, a, b, &a));
  return codes_of(emission, a, 6, dtype_of(emission, 0), &emission->outputs[0]);
}

/* The op takes all zero points. */
static nd4c_status emit_qlinear_add(nd4c_onnx_emission *emission) {
  enum { INPUTS = 8 };
  nd4c_onnx_operand inputs[INPUTS];
  const nd4c_dtype dtype = dtype_of(emission, 0);
  for (int32_t i = 0; i < INPUTS; i++) {
    const bool zero_point = i == 2 || i == 5 || i == 7;
    inputs[i] = nd4c_onnx_input(emission, i);
    if (inputs[i] == ND4C_ONNX_OPERAND_NONE && zero_point) {
      ND4C_TRY(nd4c_emit_scalar(&emission->emitter, dtype, 0, &inputs[i]));
    }
    ND4C_TRY(inputs[i] == ND4C_ONNX_OPERAND_NONE ? nd4c_onnx_require_input(emission, i, &inputs[i]) : ND4C_OK);
  }
  return nd4c_emit(&emission->emitter, ND4C_OP_qlinear_add, inputs, INPUTS, NULL, 0, &emission->outputs[0]);
}

static nd4c_status emit_qlinear_where(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand condition, a, b;
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, emission->inputs[0], ND4C_BOOL, &condition));
  ND4C_TRY(numbers_of(emission, 1, &a));
  ND4C_TRY(numbers_of(emission, 4, &b));
  ND4C_TRY(nd4c_emit_where(&emission->emitter, condition, a, b, &a));
  return codes_of(emission, a, 7, dtype_of(emission, 1), &emission->outputs[0]);
}

/* -- along axes ---------------------------------------------------------------------------------------------------- */

/* Scale and zero point of the result come first, then three inputs for each part. */
static nd4c_status emit_qlinear_concat(nd4c_onnx_emission *emission) {
  enum { HEAD = 2, EACH = 3 };
  const int32_t count = (emission->input_count - HEAD) / EACH;
  nd4c_onnx_operand *parts = NULL, y;
  int64_t axis = 0;
  if (count < 1 || emission->input_count != HEAD + count * EACH) {
    return nd4c_fail(ND4C_FORMAT, "%d inputs; expected 2, and 3 for each part", (int)emission->input_count);
  }
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)count, sizeof *parts, "the parts of a concat", &parts));
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(numbers_of(emission, HEAD + i * EACH, &parts[i]));
  }
  ND4C_TRY(nd4c_emit_along(&emission->emitter, ND4C_OP_concat, parts, count, axis, &y));
  return codes_of(emission, y, 0, dtype_of(emission, HEAD), &emission->outputs[0]);
}

/* Of an older opset of Softmax all axes from `axis` on are one: the same only for the last. */
static nd4c_status emit_qlinear_softmax(nd4c_onnx_emission *emission) {
  enum { ONE_AXIS_SINCE = 13 };
  int64_t axis = 0, opset = 0;
  nd4c_onnx_operand y;
  const int32_t rank = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", -1, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "opset", ONE_AXIS_SINCE, &opset));
  if (opset < ONE_AXIS_SINCE && axis != -1 && axis != rank - 1) {
    return nd4c_fail(ND4C_UNSUPPORTED, "axis %" PRId64 " with the meaning of opset %" PRId64 "; nd4c knows the last",
                     axis, opset);
  }
  ND4C_TRY(numbers_of(emission, 0, &y));
  ND4C_TRY(nd4c_emit_along(&emission->emitter, ND4C_OP_softmax, &y, 1, axis, &y));
  return codes_of(emission, y, 3, dtype_of(emission, 0), &emission->outputs[0]);
}

static nd4c_status emit_qlinear_global_pool(nd4c_onnx_emission *emission) {
  int64_t axes[ND4C_MAX_RANK], last = 0;
  nd4c_onnx_operand y;
  const int32_t rank = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank;
  ND4C_TRY(nd4c_onnx_get_int(emission, "channels_last", 0, &last));
  if (rank < 3) {
    return nd4c_fail(ND4C_SHAPE, "the input has rank %d; expected 3 or more", (int)rank);
  }
  for (int32_t i = 2; i < rank; i++) {
    axes[i - 2] = last != 0 ? i - 1 : i;
  }
  ND4C_TRY(numbers_of(emission, 0, &y));
  ND4C_TRY(nd4c_emit_reduce(&emission->emitter, ND4C_OP_mean, y, rank - 2, axes, true, &y));
  return codes_of(emission, y, 3, dtype_of(emission, 0), &emission->outputs[0]);
}

static nd4c_status emit_qlinear_pool(nd4c_onnx_emission *emission) {
  ND4C_TRY(nd4c_onnx_refuse_int(emission, "channels_last", 0));
  return emit_qlinear_unary(emission);
}

/* -- products of integers ------------------------------------------------------------------------------------------ */

nd4c_status nd4c_onnx_emit_scaled_product(nd4c_onnx_emission *emission, const nd4c_onnx_scaled_product *product,
                                          nd4c_onnx_operand *y) {
  const nd4c_onnx_operand inputs[4] = {product->a, product->b, product->a_zero_point, product->b_zero_point};
  nd4c_onnx_operand scale;
  const nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, product->a_scale).dtype;
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_matmul_integer, inputs, 4, NULL, 0, y));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, *y, dtype, y));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_multiply, product->a_scale, product->b_scale, &scale));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_multiply, *y, scale, y));
  return product->bias == ND4C_ONNX_OPERAND_NONE
             ? ND4C_OK
             : nd4c_emit_binary(&emission->emitter, ND4C_OP_add, *y, product->bias, y);
}

static nd4c_status emit_integer_to_float(nd4c_onnx_emission *emission) {
  const nd4c_onnx_scaled_product product = {.a = emission->inputs[0],
                                            .b = emission->inputs[1],
                                            .a_scale = emission->inputs[2],
                                            .b_scale = emission->inputs[3],
                                            .a_zero_point = nd4c_onnx_input(emission, 4),
                                            .b_zero_point = nd4c_onnx_input(emission, 5),
                                            .bias = nd4c_onnx_input(emission, 6)};
  return nd4c_onnx_emit_scaled_product(emission, &product, &emission->outputs[0]);
}

static nd4c_status emit_dynamic_matmul(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand a[3];
  ND4C_TRY(nd4c_emit_outputs(&emission->emitter, ND4C_OP_dynamic_quantize_linear, emission->inputs, 1, NULL, 0, a, 3));
  const nd4c_onnx_scaled_product product = {.a = a[0],
                                            .b = emission->inputs[1],
                                            .a_scale = a[1],
                                            .b_scale = emission->inputs[2],
                                            .a_zero_point = a[2],
                                            .b_zero_point = nd4c_onnx_input(emission, 3),
                                            .bias = nd4c_onnx_input(emission, 4)};
  return nd4c_onnx_emit_scaled_product(emission, &product, &emission->outputs[0]);
}

/* C is int32, and is added before the sums are scaled. */
static nd4c_status emit_quantized_gemm(nd4c_onnx_emission *emission) {
  const nd4c_onnx_operand c = nd4c_onnx_input(emission, 6);
  nd4c_onnx_operand inputs[4] = {emission->inputs[0], emission->inputs[3], emission->inputs[2], emission->inputs[5]};
  nd4c_onnx_operand y, scale;
  int64_t transposed[2] = {0};
  double alpha = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "transA", 0, &transposed[0]));
  ND4C_TRY(nd4c_onnx_get_int(emission, "transB", 0, &transposed[1]));
  ND4C_TRY(nd4c_onnx_get_float(emission, "alpha", 1, &alpha));
  for (int32_t i = 0; i < 2; i++) {
    ND4C_TRY(transposed[i] != 0 ? nd4c_emit_transposed(&emission->emitter, inputs[i], &inputs[i]) : ND4C_OK);
  }
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_matmul_integer, inputs, 4, NULL, 0, &y));
  if (c != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_add, y, c, &y));
  }
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_multiply, emission->inputs[1], emission->inputs[4], &scale));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, y, nd4c_emitted_get(&emission->emitter, scale).dtype, &y));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_multiply, y, scale, &y));
  if (alpha != 1) {
    ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_multiply, y, alpha, &y));
  }
  emission->outputs[0] = y;
  return nd4c_onnx_input(emission, 7) == ND4C_ONNX_OPERAND_NONE
             ? ND4C_OK
             : codes_of(emission, y, 7, dtype_of(emission, 0), &emission->outputs[0]);
}

/* -- MatMulNBits --------------------------------------------------------------------------------------------------- */

/* Weights of a few bits each: [n, k] of them, in rows of whole bytes. */
typedef struct nbits {
  int64_t n, k, bits, block_size;
  int64_t blocks; /* of a row */
} nbits;

static nd4c_status read_nbits(nd4c_onnx_emission *emission, nbits *weights) {
  enum { LONGEST = 1 << 20 };
  nd4c_onnx_ignore(emission, "accuracy_level"); /* how exact a kernel must be at least */
  ND4C_TRY(nd4c_onnx_refuse_int(emission, "weight_prepacked", 0));
  ND4C_TRY(nd4c_onnx_get_int(emission, "N", 0, &weights->n));
  ND4C_TRY(nd4c_onnx_get_int(emission, "K", 0, &weights->k));
  ND4C_TRY(nd4c_onnx_get_int(emission, "bits", 4, &weights->bits));
  ND4C_TRY(nd4c_onnx_get_int(emission, "block_size", 0, &weights->block_size));
  if (weights->n < 1 || weights->k < 1 || weights->n > INT32_MAX || weights->k > INT32_MAX || weights->block_size < 8 ||
      weights->block_size > LONGEST || weights->block_size % 8 != 0) {
    return nd4c_fail(ND4C_FORMAT,
                     "N %" PRId64 ", K %" PRId64 ", block_size %" PRId64
                     "; expected numbers above 0, and a multiple of 8 as the block_size",
                     weights->n, weights->k, weights->block_size);
  }
  if (weights->bits != 2 && weights->bits != 4 && weights->bits != 8) {
    return nd4c_fail(ND4C_UNSUPPORTED, "weights of %" PRId64 " bits; nd4c knows 2, 4 and 8", weights->bits);
  }
  weights->blocks = (weights->k + weights->block_size - 1) / weights->block_size;
  return ND4C_OK;
}

/* Copies the first `columns` codes of each row, closely packed. flip: bits that change in each byte. */
static void repack(const uint8_t *from, int64_t row_bytes, int64_t rows, int64_t columns, int64_t bits, uint8_t flip,
                   uint8_t *to) {
  const int64_t per = 8 / bits, mask = (1 << bits) - 1;
  for (int64_t row = 0; row < rows; row++, from += row_bytes) {
    for (int64_t i = 0; columns % per == 0 && i < columns / per; i++) {
      *to++ = from[i] ^ flip;
    }
    for (int64_t i = 0; columns % per != 0 && i < columns; i++) {
      const int64_t at = row * columns + i, code = ((from[i / per] ^ flip) >> (i % per * bits)) & mask;
      to[at / per] = (uint8_t)(to[at / per] | code << (at % per * bits));
    }
  }
}

/* A constant [n, columns] of codes from an input of bytes. signed: the codes less half their range. */
static nd4c_status unpack(nd4c_onnx_emission *emission, const nbits *weights, int32_t input, const char *what,
                          int64_t row_bytes, int64_t columns, bool is_signed, nd4c_onnx_operand *codes) {
  nd4c_array *array = NULL, *made = NULL;
  uint8_t *bytes = NULL;
  void *to = NULL;
  const int64_t shape[2] = {weights->n, columns}, bits = weights->bits;
  const nd4c_dtype dtype = bits == 8   ? (is_signed ? ND4C_INT8 : ND4C_UINT8)
                           : bits == 4 ? (is_signed ? ND4C_INT4 : ND4C_UINT4)
                                       : (is_signed ? ND4C_INT2 : ND4C_UINT2);
  const uint8_t half = bits == 8 ? 0x80 : bits == 4 ? 0x88 : 0xaa; /* the highest bit of each code */
  ND4C_TRY(nd4c_onnx_read_array(emission, emission->inputs[input], what, &array));
  if (nd4c_array_dtype(array) != ND4C_UINT8 || nd4c_array_size(array) != weights->n * row_bytes) {
    return nd4c_fail(nd4c_array_dtype(array) != ND4C_UINT8 ? ND4C_UNSUPPORTED : ND4C_SHAPE,
                     "%s is %s with %" PRId64 " elements; expected uint8 with %" PRId64, what,
                     nd4c_dtype_name(nd4c_array_dtype(array)), nd4c_array_size(array), weights->n * row_bytes);
  }
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)nd4c_array_size(array), 1, what, &bytes));
  ND4C_TRY(nd4c_array_read(array, bytes, (size_t)nd4c_array_size(array)));
  ND4C_TRY(nd4c_onnx_host_array(dtype, 2, shape, NULL, &made));
  nd4c_status status = nd4c_array_data_mutable(made, &to);
  if (status != ND4C_OK) {
    nd4c_array_release(made);
    return status;
  }
  repack(bytes, row_bytes, weights->n, columns, bits, is_signed ? half : 0, to);
  return nd4c_emit_constant(&emission->emitter, made, codes);
}

static nd4c_status emit_matmul_nbits(nd4c_onnx_emission *emission) {
  nbits weights;
  nd4c_onnx_operand inputs[5] = {
      [0] = emission->inputs[0], [3] = ND4C_ONNX_OPERAND_NONE, [4] = nd4c_onnx_input(emission, 5)};
  const bool zero_points = nd4c_onnx_input(emission, 3) != ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(read_nbits(emission, &weights));
  ND4C_TRY(nd4c_onnx_refuse_inputs(emission, 4, 4, "order of the groups (g_idx)"));
  const int64_t row = weights.blocks * (weights.block_size * weights.bits / 8);
  const int64_t zero_row = (weights.blocks * weights.bits + 7) / 8, scales[2] = {weights.n, weights.blocks};
  ND4C_TRY(unpack(emission, &weights, 1, "input 'B'", row, weights.k, !zero_points, &inputs[1]));
  if (zero_points) {
    ND4C_TRY(unpack(emission, &weights, 3, "input 'zero_points'", zero_row, weights.blocks, false, &inputs[3]));
  }
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, emission->inputs[2], 2, scales, &inputs[2]));
  const nd4c_attr attr = nd4c_attr_of_int("block_size", weights.block_size);
  return nd4c_emit(&emission->emitter, ND4C_OP_matmul_nbits, inputs, 5, &attr, 1, &emission->outputs[0]);
}

/* -- GatherBlockQuantized ------------------------------------------------------------------------------------------ */

/* A table of codes, of which slices are gathered before they become numbers. */
typedef struct table {
  int32_t gather_axis, quantize_axis;
  int64_t bits, block_size;
  nd4c_onnx_operand codes, scale, zero_point; /* zero_point NONE: that of `half` */
  bool is_packed;                             /* several codes in each byte, along the last axis */
  double half;                                /* 0: none */
} table;

static nd4c_status read_table(nd4c_onnx_emission *emission, table *t) {
  int64_t gather_axis = 0, quantize_axis = 0;
  const nd4c_dtype dtype = dtype_of(emission, 0);
  const bool bytes = dtype == ND4C_UINT8;
  *t = (table){.codes = emission->inputs[0], .scale = emission->inputs[2], .zero_point = nd4c_onnx_input(emission, 3)};
  ND4C_TRY(nd4c_onnx_get_int(emission, "gather_axis", 0, &gather_axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "quantize_axis", 1, &quantize_axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "block_size", 128, &t->block_size));
  ND4C_TRY(nd4c_onnx_get_int(emission, "bits", 4, &t->bits));
  if (!bytes && dtype != ND4C_INT4 && dtype != ND4C_UINT4) {
    return nd4c_fail(ND4C_UNSUPPORTED, "input 'data' is %s; nd4c knows int4, uint4 and uint8 here",
                     nd4c_dtype_name(dtype));
  }
  if ((t->bits != 4 && !bytes) || (t->bits != 2 && t->bits != 4 && t->bits != 8) || t->block_size < 1) {
    return nd4c_fail(ND4C_FORMAT,
                     "%" PRId64 " bits of %s in blocks of %" PRId64
                     "; expected 2, 4 or 8 bits of uint8, or 4, in "
                     "blocks of at least 1",
                     t->bits, nd4c_dtype_name(dtype), t->block_size);
  }
  ND4C_TRY(nd4c_onnx_fix_axis(emission, t->codes, gather_axis, &t->gather_axis));
  ND4C_TRY(nd4c_onnx_fix_axis(emission, t->codes, quantize_axis, &t->quantize_axis));
  t->is_packed = bytes && t->bits < 8;
  t->half = bytes && t->zero_point == ND4C_ONNX_OPERAND_NONE ? (double)(1 << (t->bits - 1)) : 0;
  return !t->is_packed || (t->gather_axis == 0 && t->quantize_axis != 0)
             ? ND4C_OK
             : nd4c_fail(ND4C_FORMAT,
                         "codes of %" PRId64
                         " bits in uint8 with gather_axis %d and quantize_axis %d; "
                         "expected 0 and another axis",
                         t->bits, (int)t->gather_axis, (int)t->quantize_axis);
}

static nd4c_status gather_along(nd4c_onnx_emission *emission, int32_t axis, nd4c_onnx_operand *x) {
  const nd4c_onnx_operand inputs[2] = {*x, emission->inputs[1]};
  const nd4c_attr attr = nd4c_attr_of_int("axis", axis);
  return nd4c_emit(&emission->emitter, ND4C_OP_gather, inputs, 2, &attr, 1, x);
}

/* Codes of bytes along the last axis, the lowest bits first. */
static nd4c_status spread(nd4c_onnx_emission *emission, int64_t bits, nd4c_onnx_operand *codes) {
  const int32_t per = (int32_t)(8 / bits);
  const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, *codes);
  nd4c_onnx_operand parts[4];
  int64_t shape[ND4C_MAX_RANK];
  for (int32_t i = 0; i < per; i++) {
    parts[i] = *codes;
    if (i > 0) {
      ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_bitwise_right_shift, parts[i], (double)(i * bits),
                                     &parts[i]));
    }
    ND4C_TRY(
        nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_bitwise_and, parts[i], (double)((1 << bits) - 1), &parts[i]));
  }
  for (int32_t i = 0; i < info.rank; i++) {
    shape[i] = i == info.rank - 1 ? -1 : info.shape[i];
  }
  ND4C_TRY(nd4c_emit_along(&emission->emitter, ND4C_OP_stack, parts, per, -1, codes));
  return nd4c_emit_reshape(&emission->emitter, *codes, info.rank, shape, codes);
}

static nd4c_status spread_table(nd4c_onnx_emission *emission, table *t) {
  ND4C_TRY(spread(emission, t->bits, &t->codes));
  if (t->zero_point == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  const nd4c_emitted_info scale = nd4c_emitted_get(&emission->emitter, t->scale);
  if (scale.rank < 1) {
    return nd4c_fail(ND4C_SHAPE, "input 'scales' has rank 0; expected the rank of data");
  }
  ND4C_TRY(spread(emission, t->bits, &t->zero_point));
  return nd4c_emit_slice(&emission->emitter, t->zero_point, -1, 0, scale.shape[scale.rank - 1], 1, &t->zero_point);
}

static nd4c_status dequantize(nd4c_onnx_emission *emission, table *t, int32_t axis, nd4c_onnx_operand *y) {
  const nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_int("block_size", t->block_size)};
  if (t->half > 0) {
    const nd4c_emitted_info scale = nd4c_emitted_get(&emission->emitter, t->scale);
    ND4C_TRY(nd4c_emit_full(&emission->emitter, ND4C_UINT8, t->half, scale.rank, scale.shape, &t->zero_point));
  }
  const nd4c_onnx_operand inputs[3] = {t->codes, t->scale, t->zero_point};
  return nd4c_emit(&emission->emitter, ND4C_OP_dequantize_linear, inputs, 3, attrs, 2, y);
}

/* A table whose blocks lie along the gathered axis becomes numbers before; of another one, only what is gathered. */
static nd4c_status emit_gather_blocks(nd4c_onnx_emission *emission) {
  table t;
  ND4C_TRY(read_table(emission, &t));
  const nd4c_dtype packed = dtype_of(emission, 0);
  if (packed != ND4C_UINT8) { /* the op gather has bytes */
    nd4c_onnx_operand *const both[] = {&t.codes, &t.zero_point};
    for (int32_t i = 0; i < (t.zero_point != ND4C_ONNX_OPERAND_NONE ? 2 : 1); i++) {
      const nd4c_dtype wide = packed == ND4C_INT4 ? ND4C_INT8 : ND4C_UINT8;
      ND4C_TRY(nd4c_emit_cast(&emission->emitter, *both[i], wide, both[i]));
    }
  }
  if (t.gather_axis == t.quantize_axis) {
    ND4C_TRY(dequantize(emission, &t, t.quantize_axis, &emission->outputs[0]));
    return gather_along(emission, t.gather_axis, &emission->outputs[0]);
  }
  ND4C_TRY(gather_along(emission, t.gather_axis, &t.codes));
  ND4C_TRY(gather_along(emission, t.gather_axis, &t.scale));
  if (t.zero_point != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(gather_along(emission, t.gather_axis, &t.zero_point));
  }
  ND4C_TRY(t.is_packed ? spread_table(emission, &t) : ND4C_OK);
  const int32_t more = nd4c_emitted_get(&emission->emitter, emission->inputs[1]).rank - 1;
  const int32_t axis = t.quantize_axis < t.gather_axis ? t.quantize_axis : t.quantize_axis + more;
  return dequantize(emission, &t, axis, &emission->outputs[0]);
}

/* -- rows ---------------------------------------------------------------------------------------------------------- */

#define AROUND(op) "dequantize_linear, " op ", quantize_linear"
#define SCALED "matmul_integer, cast, multiply, add"

#define ROWS                                                                                                    \
  MAP(QuantizeLinear, 1, LAST, 2, 3, 1, quantize_linear, ATTR("axis", INT, "axis", 1))                          \
  MAP(DequantizeLinear, 1, LAST, 2, 3, 1, dequantize_linear, ATTR("axis", INT, "axis", 1))                      \
  OP(QLinearAdd, 1, LAST, 2, 8, 1, qlinear_add, qlinear_add)                                                    \
  CHAIN(QLinearMul, 1, LAST, 2, 8, 1, qlinear_multiply, NONE, AROUND("multiply"))                               \
  CHAIN(QLinearSigmoid, 1, LAST, 2, 5, 1, qlinear_unary, sigmoid, AROUND("sigmoid"))                            \
  ND4C_ONNX_ROW(QLinearLeakyRelu, 1, LAST, 2, 5, 1, emit_qlinear_unary, leaky_relu,                             \
                ND4C_ONNX_RULES(ATTR("alpha", FLOAT, "alpha", 0.01)), AROUND("leaky_relu"))                     \
  CHAIN(QLinearWhere, 1, LAST, 3, 9, 1, qlinear_where, NONE, AROUND("where"))                                   \
  CHAIN(QLinearConcat, 1, LAST, 5, ANY, 1, qlinear_concat, NONE, AROUND("concat"))                              \
  CHAIN(QLinearSoftmax, 1, LAST, 2, 5, 1, qlinear_softmax, NONE, AROUND("softmax"))                             \
  CHAIN(QLinearGlobalAveragePool, 1, LAST, 5, 5, 1, qlinear_global_pool, NONE, AROUND("mean"))                  \
  ND4C_ONNX_ROW(QLinearAveragePool, 1, LAST, 2, 5, 1, emit_qlinear_pool, average_pool,                          \
                ND4C_ONNX_RULES(ND4C_ONNX_POOL_RULES, ATTR("count_include_pad", BOOL, "count_include_pad", 0)), \
                AROUND("average_pool"))                                                                         \
  CHAIN(MatMulIntegerToFloat, 1, LAST, 4, 7, 1, integer_to_float, NONE, SCALED)                                 \
  CHAIN(DynamicQuantizeMatMul, 1, LAST, 3, 5, 1, dynamic_matmul, NONE, "dynamic_quantize_linear, " SCALED)      \
  CHAIN(QGemm, 1, LAST, 6, 9, 1, quantized_gemm, NONE, "matmul_integer, add, cast, multiply, quantize_linear")  \
  CHAIN(GatherBlockQuantized, 1, LAST, 3, 4, 1, gather_blocks, NONE,                                            \
        "gather, dequantize_linear; of codes in uint8: bitwise_right_shift, bitwise_and, stack")                \
  OP(MatMulNBits, 1, LAST, 3, 6, 1, matmul_nbits, matmul_nbits)

ND4C_ONNX_FAMILY(quantization_microsoft, "com.microsoft", ROWS)
