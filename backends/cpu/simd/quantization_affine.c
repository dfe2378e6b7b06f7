/* Quantising, dequantising and adding bytes with one scale and one zero point each, on engine simd. The loops are in
 * kernels/cpu/quantization/affine.h. dispatch/choice.c asks these kernels before the reference's, which also know
 * scales for each channel and block. */
#include <math.h>
#include <string.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/nest.h"

enum { QUANTIZE_COST = 4, DEQUANTIZE_COST = 2, ADD_COST = 6 }; /* of one element, in the unit of nd4c_nest_run */

static bool is_byte(nd4c_dtype dtype) {
  return dtype == ND4C_INT8 || dtype == ND4C_UINT8;
}

static bool is_scale(const nd4c_tensor *x) {
  return x->dtype == ND4C_FLOAT32 && x->size == 1;
}

static int32_t zero_of(const nd4c_tensor *zero) {
  return zero == NULL ? 0 : zero->dtype == ND4C_INT8 ? *(const int8_t *)zero->data : *(const uint8_t *)zero->data;
}

/* zero: may be NULL. */
static nd4c_affine affine_of(nd4c_dtype dtype, const nd4c_tensor *scale, const nd4c_tensor *zero) {
  bool is_signed = dtype == ND4C_INT8;
  return (nd4c_affine){.scale = *(const float *)scale->data,
                       .zero = zero_of(zero) + (is_signed ? 128 : 0),
                       .turn = is_signed ? 0x80 : 0};
}

static nd4c_status run_nest(const nd4c_call *call, int32_t operands, int32_t cost, nd4c_nest_function function,
                            const void *user, const int *positions) {
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_nest nest;
  nd4c_nest_start(&nest, y);
  for (int32_t i = 0; i < operands; i++) {
    nd4c_nest_add(&nest, &call->inputs[positions[i]], y);
  }
  nd4c_nest_finish(&nest);
  nd4c_nest_run(&nest, call->width, cost, false, function, NULL, user);
  return ND4C_OK;
}

/* -- quantize_linear, dequantize_linear ------------------------------------------------------------------------- */

static bool quantize_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  int64_t precision = ND4C_INT_OF(call, quantize_linear_precision);
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != ND4C_FLOAT32 || !is_byte(call->outputs[0].dtype),
                      "not from float32 to bytes");
  ND4C_CPU_DECLINE_IF(!is_scale(&call->inputs[ND4C_IN_quantize_linear_scale]), "not one scale of float32");
  ND4C_CPU_DECLINE_IF(precision != ND4C_DTYPE_NONE && precision != ND4C_FLOAT32, "another precision than float32");
  return true;
}

static void quantize_piece(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  (void)repeated;
  nd4c_simd.affine->quantize(n, (const float *)(const void *)pointers[1], *(const nd4c_affine *)user,
                             (uint8_t *)pointers[0]);
}

static nd4c_status quantize_run(const nd4c_call *call) {
  const nd4c_affine to = affine_of(call->outputs[0].dtype, &call->inputs[ND4C_IN_quantize_linear_scale],
                                   nd4c_cpu_input(call, ND4C_IN_quantize_linear_zero_point));
  return run_nest(call, 1, QUANTIZE_COST, quantize_piece, &to, (const int[]){0});
}

static bool dequantize_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->outputs[0].dtype != ND4C_FLOAT32, "not from bytes to float32");
  ND4C_CPU_DECLINE_IF(!is_scale(&call->inputs[ND4C_IN_dequantize_linear_scale]), "not one scale of float32");
  return true;
}

static void dequantize_piece(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  (void)repeated;
  nd4c_simd.affine->dequantize(n, (const uint8_t *)pointers[1], *(const nd4c_affine *)user,
                               (float *)(void *)pointers[0]);
}

static nd4c_status dequantize_run(const nd4c_call *call) {
  const nd4c_affine from = affine_of(call->inputs[0].dtype, &call->inputs[ND4C_IN_dequantize_linear_scale],
                                     nd4c_cpu_input(call, ND4C_IN_dequantize_linear_zero_point));
  return run_nest(call, 1, DEQUANTIZE_COST, dequantize_piece, &from, (const int[]){0});
}

/* -- dynamic_quantize_linear ------------------------------------------------------------------------------------ */

enum { PIECES = 64, PIECE = 8192 }; /* parts of x whose ranges are found side by side; the least elements of one */

typedef struct range_job {
  const float *x;
  int64_t size, piece;
  float low[PIECES], high[PIECES];
} range_job;

static void range_pieces(void *user, int64_t begin, int64_t end, int32_t worker) {
  range_job *j = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t first = i * j->piece, left = j->size - first;
    nd4c_simd.affine->range(left < j->piece ? left : j->piece, j->x + first, &j->low[i], &j->high[i]);
  }
}

static bool dynamic_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != ND4C_FLOAT32 || !nd4c_in_c_order(&call->inputs[0]) ||
                          !nd4c_in_c_order(&call->outputs[0]),
                      "not float32 in C order");
  return true;
}

static nd4c_status dynamic_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  range_job j = {.x = x->data, .size = x->size};
  j.piece = (x->size + PIECES - 1) / PIECES;
  j.piece = j.piece < PIECE ? PIECE : j.piece;
  int64_t pieces = (x->size + j.piece - 1) / j.piece;
  float low = 0, high = 0;
  nd4c_cpu_parallel(pieces, 4, call->width, range_pieces, &j);
  for (int64_t i = 0; i < pieces; i++) {
    low = j.low[i] < low ? j.low[i] : low;
    high = j.high[i] > high ? j.high[i] : high;
  }
  const float scale = (low == high ? 1.0F : high - low) / 255.0F, zero = 0.0F - low / scale;
  const uint8_t zero_point = (uint8_t)(zero != zero || zero < 0 ? 0 : zero > 255 ? 255 : nearbyint((double)zero));
  const nd4c_affine to = {.scale = scale, .zero = zero_point};
  memcpy(call->outputs[1].data, &scale, sizeof scale);
  memcpy(call->outputs[2].data, &zero_point, sizeof zero_point);
  return run_nest(call, 1, QUANTIZE_COST, quantize_piece, &to, (const int[]){0});
}

/* -- qlinear_add ------------------------------------------------------------------------------------------------ */

static bool add_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(!is_scale(&call->inputs[ND4C_IN_qlinear_add_a_scale]) ||
                          !is_scale(&call->inputs[ND4C_IN_qlinear_add_b_scale]) ||
                          !is_scale(&call->inputs[ND4C_IN_qlinear_add_y_scale]),
                      "not one scale of float32");
  return true;
}

/* Sums of float32 are off by fewer than 8 roundings of the largest that they can be. */
static nd4c_affine_sum sum_of(const nd4c_call *call) {
  const nd4c_tensor *x = call->inputs;
  nd4c_affine_sum sum = {
      .a = affine_of(x[ND4C_IN_qlinear_add_a].dtype, &x[ND4C_IN_qlinear_add_a_scale],
                     &x[ND4C_IN_qlinear_add_a_zero_point]),
      .b = affine_of(x[ND4C_IN_qlinear_add_b].dtype, &x[ND4C_IN_qlinear_add_b_scale],
                     &x[ND4C_IN_qlinear_add_b_zero_point]),
      .y = affine_of(call->outputs[0].dtype, &x[ND4C_IN_qlinear_add_y_scale], &x[ND4C_IN_qlinear_add_y_zero_point])};
  double a = (double)sum.a.scale / (double)sum.y.scale, b = (double)sum.b.scale / (double)sum.y.scale;
  double margin = 0x1p-21 * 512 * (fabs(a) + fabs(b));
  sum.a_factor = (float)a;
  sum.b_factor = (float)b;
  sum.term = (float)-(a * sum.a.zero + b * sum.b.zero);
  sum.margin = margin < 0x1p-5 ? (float)margin : 1.0F; /* NaN, too */
  return sum;
}

static void add_piece(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  (void)repeated;
  nd4c_simd.affine->add(n, (const uint8_t *)pointers[1], (const uint8_t *)pointers[2], user, (uint8_t *)pointers[0]);
}

static nd4c_status add_run(const nd4c_call *call) {
  const nd4c_affine_sum sum = sum_of(call);
  return run_nest(call, 2, ADD_COST, add_piece, &sum, (const int[]){ND4C_IN_qlinear_add_a, ND4C_IN_qlinear_add_b});
}

#define BYTES (ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_UINT8))

const nd4c_kernel *const nd4c_cpu_simd_quantization_affine_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(quantize_linear, ND4C_DTYPE_BIT(ND4C_FLOAT32), quantize_usable, quantize_run),
    ND4C_CPU_SIMD_KERNEL(dequantize_linear, BYTES, dequantize_usable, dequantize_run),
    ND4C_CPU_SIMD_KERNEL(dynamic_quantize_linear, ND4C_DTYPE_BIT(ND4C_FLOAT32), dynamic_usable, dynamic_run),
    ND4C_CPU_SIMD_KERNEL(qlinear_add, BYTES, add_usable, add_run), NULL};
