/* Floats as bytes and back, with a scale for all or for each channel, and sums of bytes, on engine simd. The loops are
 * in kernels/cpu/quantization/affine.h. dispatch/choice.c asks these kernels before the reference's, which also know
 * scales for each block, and other dtypes. */
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

/* -- quantize_linear, dequantize_linear: inputs and the first attributes stand at the same places ----------------- */

enum { PART = 512 }; /* 16-bit floats that are converted at a time */

/* A call. With several channels both operands lie in C order; runs of `inner` elements share a channel. */
typedef struct linear {
  const char *x;
  char *y;
  nd4c_dtype dtype, precision; /* of the floats, and of quotients */
  uint8_t turn;
  int64_t channels, inner;
  const float *scales;
  const int32_t *zeros;
} linear;

static bool is_half(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT16 || dtype == ND4C_BFLOAT16;
}

static float number_of(const nd4c_tensor *x, int64_t index) {
  const char *at = (const char *)x->data + (x->rank == 0 ? 0 : index * x->strides[0]) * nd4c_cpu_dtype_bytes(x->dtype);
  float number;
  if (x->dtype == ND4C_FLOAT32) {
    return *(const float *)(const void *)at;
  }
  nd4c_simd.cast->loops[x->dtype][ND4C_FLOAT32](1, at, &number);
  return number;
}

static int32_t zero_at(const nd4c_tensor *zero, int64_t index) {
  const int64_t offset = zero->rank == 0 ? 0 : index * zero->strides[0];
  return zero->dtype == ND4C_INT8 ? ((const int8_t *)zero->data)[offset] : ((const uint8_t *)zero->data)[offset];
}

/* What both ops can do; the reason if they cannot. */
static const char *why_not(const nd4c_call *call, nd4c_dtype floats, nd4c_dtype bytes) {
  const nd4c_tensor *scale = &call->inputs[ND4C_IN_quantize_linear_scale];
  if (!is_byte(bytes) || (floats != ND4C_FLOAT32 && !is_half(floats))) {
    return "not between bytes and floats of up to 32 bits";
  }
  if (scale->dtype != ND4C_FLOAT32 && !is_half(scale->dtype)) {
    return "the scale is no float of up to 32 bits";
  }
  if (scale->size == 1) {
    return NULL;
  }
  if (ND4C_INT_OF(call, quantize_linear_block_size) != 0) {
    return "blocks have scales of their own";
  }
  return nd4c_in_c_order(&call->inputs[0]) && nd4c_in_c_order(&call->outputs[0])
             ? NULL
             : "several scales, and operands not in C order";
}

static int64_t linear_scratch(const nd4c_call *call) {
  return call->inputs[ND4C_IN_quantize_linear_scale].size * (int64_t)(sizeof(float) + sizeof(int32_t));
}

/* scratch: linear_scratch bytes. */
static linear linear_of(const nd4c_call *call, nd4c_dtype floats, nd4c_dtype bytes) {
  const nd4c_tensor *x = &call->inputs[0], *scale = &call->inputs[ND4C_IN_quantize_linear_scale];
  const nd4c_tensor *zero = nd4c_cpu_input(call, ND4C_IN_quantize_linear_zero_point);
  linear l = {.x = x->data, .y = call->outputs[0].data, .dtype = floats, .channels = scale->size, .inner = 1};
  float *scales = call->scratch;
  int32_t *zeros = (int32_t *)(void *)(scales + l.channels);
  l.precision = ND4C_FLOAT32;
  l.turn = bytes == ND4C_INT8 ? 0x80 : 0;
  l.scales = scales;
  l.zeros = zeros;
  for (int64_t i = 0; i < l.channels; i++) {
    scales[i] = number_of(scale, i);
    zeros[i] = (zero == NULL ? 0 : zero_at(zero, i)) + (bytes == ND4C_INT8 ? 128 : 0);
  }
  for (int32_t axis = nd4c_axis(ND4C_INT_OF(call, quantize_linear_axis), x->rank) + 1; axis < x->rank; axis++) {
    l.inner *= x->shape[axis];
  }
  return l;
}

/* Elements of one channel, or, `each`, of as many channels. x has at most PART elements unless it is float32. */
static void quantize_part(const linear *l, int64_t n, const char *x, int64_t channel, bool each, uint8_t *y) {
  float wide[PART], ones[PART];
  uint16_t narrow[PART];
  const float *from = (const float *)(const void *)x, *scales = l->scales + channel;
  nd4c_affine to = {.scale = *scales, .zero = l->zeros[channel], .turn = l->turn};
  if (l->dtype != ND4C_FLOAT32) {
    nd4c_simd.cast->loops[l->dtype][ND4C_FLOAT32](n, x, wide);
    from = wide;
  }
  if (l->precision != ND4C_FLOAT32) { /* two roundings of a quotient of halves give what one to a half gives */
    for (int64_t i = 0; i < n; i++) {
      ones[i] = 1;
    }
    each ? nd4c_simd.affine->divide_each(n, from, scales, wide) : nd4c_simd.affine->divide(n, from, *scales, wide);
    nd4c_simd.cast->loops[ND4C_FLOAT32][l->precision](n, wide, narrow);
    nd4c_simd.cast->loops[l->precision][ND4C_FLOAT32](n, narrow, wide);
    scales = ones;
    to.scale = 1;
  }
  if (each) {
    nd4c_simd.affine->quantize_each(n, from, scales, l->zeros + channel, l->turn, y);
  } else {
    nd4c_simd.affine->quantize(n, from, to, y);
  }
}

static void dequantize_part(const linear *l, int64_t n, const char *x, int64_t channel, bool each, char *y) {
  const uint8_t *from = (const uint8_t *)x;
  float wide[PART], *to = l->dtype == ND4C_FLOAT32 ? (float *)(void *)y : wide;
  if (each) {
    nd4c_simd.affine->dequantize_each(n, from, l->scales + channel, l->zeros + channel, l->turn, to);
  } else {
    const nd4c_affine by = {.scale = l->scales[channel], .zero = l->zeros[channel], .turn = l->turn};
    nd4c_simd.affine->dequantize(n, from, by, to);
  }
  if (l->dtype != ND4C_FLOAT32) {
    nd4c_simd.cast->loops[ND4C_FLOAT32][l->dtype](n, wide, y);
  }
}

/* The parts of n elements of a channel, or of n channels. */
#define DEFINE_PARTS(op, from_bytes, to_bytes)                                                                \
  static void op##_parts(const linear *l, int64_t n, const char *x, int64_t channel, bool each, char *y) {    \
    const int64_t floats = nd4c_cpu_dtype_bytes(l->dtype), most = l->dtype == ND4C_FLOAT32 ? n : PART;        \
    for (int64_t at = 0; at < n; at += most) {                                                                \
      op##_part(l, n - at < most ? n - at : most, x + at * (from_bytes), each ? channel + at : channel, each, \
                (void *)(y + at * (to_bytes)));                                                               \
    }                                                                                                         \
  }                                                                                                           \
  static void op##_piece(const void *user, int64_t n, char *const *pointers, const bool *repeated) {          \
    (void)repeated;                                                                                           \
    op##_parts(user, n, pointers[1], 0, false, pointers[0]);                                                  \
  }                                                                                                           \
  /* Elements in C order. */                                                                                  \
  static void op##_range(void *user, int64_t begin, int64_t end, int32_t worker) {                            \
    const linear *l = user;                                                                                   \
    const int64_t floats = nd4c_cpu_dtype_bytes(l->dtype);                                                    \
    const bool each = l->inner == 1;                                                                          \
    (void)worker;                                                                                             \
    for (int64_t flat = begin, n; flat < end; flat += n) {                                                    \
      const int64_t channel = flat / l->inner % l->channels;                                                  \
      n = each ? l->channels - channel : l->inner - flat % l->inner;                                          \
      n = n < end - flat ? n : end - flat;                                                                    \
      op##_parts(l, n, l->x + flat * (from_bytes), channel, each, l->y + flat * (to_bytes));                  \
    }                                                                                                         \
  }
DEFINE_PARTS(quantize, floats, 1)
DEFINE_PARTS(dequantize, 1, floats)

static nd4c_status run_linear(const nd4c_call *call, linear *l, int32_t cost, nd4c_nest_function piece,
                              nd4c_range_function range) {
  if (l->channels == 1) {
    return run_nest(call, 1, cost, piece, l, (const int[]){0});
  }
  nd4c_cpu_parallel(call->outputs[0].size, ND4C_NEST_PIECE_COST / cost, call->width, range, l);
  return ND4C_OK;
}

/* What the quotient is rounded to. */
static nd4c_dtype precision_of(const nd4c_call *call) {
  const nd4c_dtype asked = (nd4c_dtype)ND4C_INT_OF(call, quantize_linear_precision);
  return asked != ND4C_DTYPE_NONE ? asked : call->inputs[ND4C_IN_quantize_linear_scale].dtype;
}

static bool quantize_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_dtype x = call->inputs[0].dtype, scale = call->inputs[ND4C_IN_quantize_linear_scale].dtype;
  const nd4c_dtype precision = precision_of(call);
  const char *why = why_not(call, x, call->outputs[0].dtype);
  ND4C_CPU_DECLINE_IF(why != NULL, "%s", why);
  ND4C_CPU_DECLINE_IF(precision != ND4C_FLOAT32 && (precision != x || precision != scale),
                      "the quotient's precision is neither float32 nor that of x and scale");
  return true;
}

static nd4c_status quantize_run(const nd4c_call *call) {
  linear l = linear_of(call, call->inputs[0].dtype, call->outputs[0].dtype);
  l.precision = precision_of(call);
  return run_linear(call, &l, QUANTIZE_COST, quantize_piece, quantize_range);
}

static bool dequantize_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_dtype y = call->outputs[0].dtype;
  const char *why = why_not(call, y, call->inputs[0].dtype);
  ND4C_CPU_DECLINE_IF(why != NULL, "%s", why);
  /* A product of a byte with a half is exact in float32. */
  ND4C_CPU_DECLINE_IF(y != ND4C_FLOAT32 && y != call->inputs[ND4C_IN_dequantize_linear_scale].dtype,
                      "the scale is of another dtype than the 16-bit result");
  return true;
}

static nd4c_status dequantize_run(const nd4c_call *call) {
  linear l = linear_of(call, call->outputs[0].dtype, call->inputs[0].dtype);
  return run_linear(call, &l, DEQUANTIZE_COST, dequantize_piece, dequantize_range);
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

/* Whether the elements lie side by side, in whatever order. */
static bool lies_without_gaps(const nd4c_tensor *x) {
  int64_t run = 1;
  for (int32_t axis = 0; run < x->size && axis < x->rank;) {
    const bool next = x->shape[axis] > 1 && x->strides[axis] == run;
    run *= next ? x->shape[axis] : 1;
    axis = next ? 0 : axis + 1;
  }
  return run >= x->size;
}

/* The range is that of memory, whatever the order is: channels last after convolutions, for example. */
static bool dynamic_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != ND4C_FLOAT32, "not float32");
  ND4C_CPU_DECLINE_IF(!lies_without_gaps(&call->inputs[0]), "the elements have gaps");
  return true;
}

static void dynamic_piece(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  (void)repeated;
  nd4c_simd.affine->quantize(n, (const float *)(const void *)pointers[1], *(const nd4c_affine *)user,
                             (uint8_t *)pointers[0]);
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
  return run_nest(call, 1, QUANTIZE_COST, dynamic_piece, &to, (const int[]){0});
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
    ND4C_CPU_SIMD_KERNEL(quantize_linear, ND4C_CPU_FLOATS, quantize_usable, quantize_run,
                         .scratch_bytes = linear_scratch),
    ND4C_CPU_SIMD_KERNEL(dequantize_linear, BYTES, dequantize_usable, dequantize_run, .scratch_bytes = linear_scratch),
    ND4C_CPU_SIMD_KERNEL(dynamic_quantize_linear, ND4C_DTYPE_BIT(ND4C_FLOAT32), dynamic_usable, dynamic_run),
    ND4C_CPU_SIMD_KERNEL(qlinear_add, BYTES, add_usable, add_run), NULL};
