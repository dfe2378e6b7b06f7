/* Engine reference: products of bytes. It widens one matrix at a time to int16, with the zero points subtracted, and
 * sums in int32. dispatch/choice.c asks these kernels last, after those of all other engines. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "backends/cpu/support/window.h"
#include "kernels/reference/quantization/quantization.h"

/* What a call works with. */
typedef struct product {
  const nd4c_call *call;
  nd4c_ref_tensor a, b, y;
  int64_t m, n, k;
  int16_t *a_wide, *b_wide;
  int32_t *sums, *a_zeros, *b_zeros;
  double *a_scales, *b_scales;
} product;

/* Memory for `count` items of `each` bytes. */
static void *take(nd4c_cpu_work *work, int64_t count, int64_t each) {
  return nd4c_cpu_work_make(work, (count * each + 7) / 8);
}

static nd4c_status take_buffers(nd4c_cpu_work *work, product *p) {
  double needed = 2.0 * (double)p->k * (double)(p->m + p->n) + 4.0 * (double)p->m * (double)p->n;
  ND4C_CPU_FAIL_IF(needed > 0x1p46, ND4C_MEMORY, "%s: no memory for factors of %lld by %lld by %lld", p->call->op->name,
                   (long long)p->m, (long long)p->k, (long long)p->n);
  p->a_scales = nd4c_cpu_work_make(work, p->m);
  p->b_scales = nd4c_cpu_work_make(work, p->n);
  p->a_zeros = take(work, p->m, sizeof *p->a_zeros);
  p->b_zeros = take(work, p->n, sizeof *p->b_zeros);
  p->sums = take(work, p->m * p->n, sizeof *p->sums);
  p->a_wide = take(work, p->m * p->k, sizeof *p->a_wide);
  p->b_wide = take(work, p->k * p->n, sizeof *p->b_wide);
  return nd4c_cpu_work_check(work);
}

static void product_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const product *p = user;
  (void)worker;
  nd4c_ref_int16_product(p->n, p->k, p->a_wide, p->b_wide, p->sums, begin, end);
}

static void multiply(product *p) {
  nd4c_cpu_parallel(p->m, nd4c_cpu_grain(p->n * p->k / 8), p->call->width, product_range, p);
}

/* Offset of the operand's matrix that belongs to matrix number `matrix` of y. */
static int64_t batch_offset(const nd4c_ref_tensor *operand, const nd4c_ref_tensor *y, int32_t batch_rank,
                            int64_t matrix) {
  nd4c_ref_tensor batch = *operand;
  batch.rank = operand->rank > 2 ? operand->rank - 2 : 0;
  return nd4c_ref_offset(&batch, batch_rank, y->shape, matrix);
}

/* Scales or zero points of the rows or columns of one matrix: one for all, a list, or an array like the factor. */
static double parameter(const nd4c_call *call, int32_t position, const nd4c_ref_tensor *y, int32_t batch_rank,
                        int64_t matrix, int64_t index, bool rows) {
  const nd4c_tensor *given = nd4c_cpu_input(call, position);
  nd4c_ref_tensor vector = nd4c_cpu_ref_tensor(given);
  if (given == NULL) {
    return 0;
  }
  if (given->rank == 0 || (given->rank == 1 && given->shape[0] == 1)) {
    return nd4c_ref_real(&vector, 0);
  }
  if (given->rank == 1) {
    return nd4c_ref_real(&vector, index * vector.strides[0]);
  }
  int64_t stride = vector.strides[vector.rank - (rows ? 2 : 1)];
  return nd4c_ref_real(&vector, batch_offset(&vector, y, batch_rank, matrix) + index * stride);
}

typedef struct positions {
  int32_t a_scale, a_zero, b_scale, b_zero; /* -1: none */
} positions;

static void take_parameters(const product *p, const positions *at, int32_t batch_rank, int64_t matrix, bool b_rows) {
  for (int64_t i = 0; i < p->m; i++) {
    p->a_zeros[i] = (int32_t)parameter(p->call, at->a_zero, &p->y, batch_rank, matrix, i, true);
    p->a_scales[i] = at->a_scale < 0 ? 1 : parameter(p->call, at->a_scale, &p->y, batch_rank, matrix, i, true);
  }
  for (int64_t i = 0; i < p->n; i++) {
    p->b_zeros[i] = (int32_t)parameter(p->call, at->b_zero, &p->y, batch_rank, matrix, i, b_rows);
    p->b_scales[i] = at->b_scale < 0 ? 1 : parameter(p->call, at->b_scale, &p->y, batch_rank, matrix, i, b_rows);
  }
}

/* -- results ------------------------------------------------------------------------------------------------------ */

/* Scale and zero point of y; the multiplier is worked out in the scales' dtype, as ONNX's reference does. */
typedef struct target {
  double scale;
  int32_t zero;
  nd4c_dtype dtype;
} target;

static target target_of(const nd4c_call *call, int32_t scale, int32_t zero) {
  nd4c_ref_tensor scales = nd4c_cpu_ref_input(call, scale), zeros = nd4c_cpu_ref_input(call, zero);
  return (target){nd4c_ref_real(&scales, 0), (int32_t)nd4c_ref_real(&zeros, 0), scales.dtype};
}

static double multiplier(const target *to, double a_scale, double b_scale) {
  return nd4c_ref_rounded(to->dtype, nd4c_ref_rounded(to->dtype, a_scale * b_scale) / to->scale);
}

/* Multipliers that are no numbers come from scales of 0: NaN gives the zero point. */
static void store_byte(const nd4c_ref_tensor *y, int64_t offset, double value, int32_t zero) {
  double low = y->dtype == ND4C_INT8 ? -128 : 0, whole = value != value ? zero : nearbyint(value) + zero;
  y->data[offset] = (char)(int)(whole < low ? low : whole > low + 255 ? low + 255 : whole);
}

/* Stores sum (i, j) as element `flat` of y. `to` NULL: unchanged, or scaled if y is floating. */
static void store_sum(const product *p, const target *to, const nd4c_ref_tensor *bias, int64_t flat, int64_t i,
                      int64_t j) {
  int64_t offset = nd4c_ref_offset(&p->y, p->y.rank, p->y.shape, flat);
  int32_t sum = p->sums[i * p->n + j];
  if (to != NULL) {
    store_byte(&p->y, offset, (double)sum * multiplier(to, p->a_scales[i], p->b_scales[j]), to->zero);
  } else if (p->y.dtype == ND4C_INT32) {
    nd4c_value_store(ND4C_INT32, p->y.data, offset, (nd4c_value){.i = sum});
  } else {
    nd4c_ref_store(&p->y, offset,
                   (double)sum * p->a_scales[i] * p->b_scales[j] +
                       (bias->data != NULL ? nd4c_ref_load(bias, j * bias->strides[0]) : 0));
  }
}

/* -- matrices ----------------------------------------------------------------------------------------------------- */

/* a [..., m, k] times b [..., k, n], with matmul's rules; `turned`: times the transpose of b [n, k]. */
static nd4c_status multiply_matrices(const nd4c_call *call, nd4c_cpu_work *work, int32_t b_at, positions at,
                                     const target *to, bool turned, nd4c_ref_tensor bias) {
  product p = {.call = call,
               .a = nd4c_cpu_ref_input(call, 0),
               .b = nd4c_cpu_ref_input(call, b_at),
               .y = nd4c_cpu_ref_output(call, 0)};
  bool a_vector = p.a.rank == 1, b_vector = p.b.rank == 1;
  int32_t batch_rank = p.y.rank - !a_vector - !b_vector;
  p.m = a_vector ? 1 : p.a.shape[p.a.rank - 2];
  p.n = b_vector ? 1 : p.b.shape[turned ? 0 : p.b.rank - 1];
  p.k = p.a.shape[p.a.rank - 1];
  if (call->outputs[0].size == 0) {
    return ND4C_OK;
  }
  const int64_t *b_last = &p.b.strides[p.b.rank - 1];
  int64_t b_steps[2] = {b_vector ? b_last[0] : b_last[-1], b_vector ? 0 : b_last[0]}; /* along k, along n */
  ND4C_BACKEND_TRY(take_buffers(work, &p));
  for (int64_t matrix = 0; matrix < call->outputs[0].size / (p.m * p.n); matrix++) {
    take_parameters(&p, &at, batch_rank, matrix, turned);
    nd4c_ref_bytes a = {.tensor = p.a,
                        .offset = batch_offset(&p.a, &p.y, batch_rank, matrix),
                        .rows = p.m,
                        .columns = p.k,
                        .row_stride = a_vector ? 0 : p.a.strides[p.a.rank - 2],
                        .column_stride = p.a.strides[p.a.rank - 1],
                        .zeros = p.a_zeros,
                        .by_row = true};
    nd4c_ref_bytes b = {.tensor = p.b,
                        .offset = batch_offset(&p.b, &p.y, batch_rank, matrix),
                        .rows = p.k,
                        .columns = p.n,
                        .row_stride = b_steps[turned],
                        .column_stride = b_steps[!turned],
                        .zeros = p.b_zeros};
    nd4c_ref_widen(&a, p.a_wide);
    nd4c_ref_widen(&b, p.b_wide);
    multiply(&p);
    for (int64_t i = 0; i < p.m * p.n; i++) {
      store_sum(&p, to, &bias, matrix * p.m * p.n + i, i / p.n, i % p.n);
    }
  }
  return ND4C_OK;
}

static const nd4c_ref_tensor no_bias = {.dtype = ND4C_DTYPE_NONE};

static nd4c_status matmul_integer(const nd4c_call *call, nd4c_cpu_work *work) {
  const positions at = {-1, ND4C_IN_matmul_integer_a_zero_point, -1, ND4C_IN_matmul_integer_b_zero_point};
  return multiply_matrices(call, work, ND4C_IN_matmul_integer_b, at, NULL, false, no_bias);
}

static nd4c_status qlinear_matmul(const nd4c_call *call, nd4c_cpu_work *work) {
  const positions at = {ND4C_IN_qlinear_matmul_a_scale, ND4C_IN_qlinear_matmul_a_zero_point,
                        ND4C_IN_qlinear_matmul_b_scale, ND4C_IN_qlinear_matmul_b_zero_point};
  target to = target_of(call, ND4C_IN_qlinear_matmul_y_scale, ND4C_IN_qlinear_matmul_y_zero_point);
  return multiply_matrices(call, work, ND4C_IN_qlinear_matmul_b, at, &to, false, no_bias);
}

static nd4c_status linear_int8(const nd4c_call *call, nd4c_cpu_work *work) {
  const positions at = {ND4C_IN_linear_int8_x_scale, ND4C_IN_linear_int8_x_zero_point, ND4C_IN_linear_int8_w_scale,
                        ND4C_IN_linear_int8_w_zero_point};
  return multiply_matrices(call, work, ND4C_IN_linear_int8_w, at, NULL, true,
                           nd4c_cpu_ref_input(call, ND4C_IN_linear_int8_bias));
}

/* -- convolutions -------------------------------------------------------------------------------------------------- */

typedef struct conv_job {
  product p; /* of one group: weights [o, k] times unfolded windows [k, positions] */
  nd4c_ref_window window;
  nd4c_ref_tensor bias;
  int64_t channels;
  const target *to;
} conv_job;

static void store_group(const conv_job *job, int64_t image, int64_t group) {
  const product *p = &job->p;
  for (int64_t i = 0; i < p->m * p->n; i++) {
    int64_t channel = group * p->m + i / p->n;
    int64_t flat = (image * p->y.shape[1] + channel) * p->n + i % p->n;
    int64_t offset = nd4c_ref_offset(&p->y, p->y.rank, p->y.shape, flat);
    if (job->to == NULL) {
      ((int32_t *)(void *)p->y.data)[offset] = p->sums[i];
      continue;
    }
    double sum = (double)p->sums[i];
    if (job->bias.data != NULL) {
      sum += nd4c_ref_real(&job->bias, channel * job->bias.strides[0]);
    }
    store_byte(&p->y, offset, sum * multiplier(job->to, p->b_scales[0], p->a_scales[i / p->n]), job->to->zero);
  }
}

/* `at`: a is w, b is x. */
static nd4c_status run_conv(const nd4c_call *call, nd4c_cpu_work *work, int32_t w_at, const positions *at,
                            conv_job *job, int64_t groups) {
  product *p = &job->p;
  *p = (product){.call = call,
                 .a = nd4c_cpu_ref_input(call, w_at),
                 .b = nd4c_cpu_ref_input(call, 0),
                 .y = nd4c_cpu_ref_output(call, 0)};
  const nd4c_tensor *w = &call->inputs[w_at], *y = &call->outputs[0];
  int64_t outputs = w->shape[0];
  if (y->size == 0) {
    return ND4C_OK;
  }
  p->m = outputs / groups;
  p->n = y->size / y->shape[0] / outputs;
  p->k = w->size / outputs;
  ND4C_BACKEND_TRY(take_buffers(work, p));
  for (int64_t i = 0; i < y->shape[0] * groups; i++) {
    int64_t image = i / groups, group = i % groups, cells = p->k / (w->shape[1] > 0 ? w->shape[1] : 1);
    int32_t x_zero = (int32_t)parameter(call, at->b_zero, &p->y, 0, 0, 0, true);
    for (int64_t row = 0; row < p->m; row++) {
      int64_t channel = group * p->m + row;
      p->a_zeros[row] = (int32_t)parameter(call, at->a_zero, &p->y, 0, 0, channel, true);
      p->a_scales[row] = at->a_scale < 0 ? 1 : parameter(call, at->a_scale, &p->y, 0, 0, channel, true);
    }
    p->b_scales[0] = at->b_scale < 0 ? 1 : parameter(call, at->b_scale, &p->y, 0, 0, 0, true);
    /* Reads w in C order element by element, because w may have gaps. */
    for (int64_t row = 0; row < p->m; row++) {
      for (int64_t j = 0; j < p->k; j++) {
        int64_t flat = (group * p->m + row) * p->k + j;
        int64_t offset = nd4c_ref_offset(&p->a, w->rank, w->shape, flat);
        p->a_wide[row * p->k + j] = (int16_t)(nd4c_ref_real(&p->a, offset) - p->a_zeros[row]);
      }
    }
    int64_t from = image * p->b.strides[0] + group * w->shape[1] * p->b.strides[1];
    if (cells > 0) {
      nd4c_ref_unfold(&p->b, &job->window, y->shape + 2, from, w->shape[1], x_zero, p->b_wide);
    }
    multiply(p);
    store_group(job, image, group);
  }
  return ND4C_OK;
}

static nd4c_status conv_integer(const nd4c_call *call, nd4c_cpu_work *work) {
  const positions at = {-1, ND4C_IN_conv_integer_w_zero_point, -1, ND4C_IN_conv_integer_x_zero_point};
  const nd4c_cpu_window_attrs attrs = ND4C_CPU_WINDOW_ATTRS(conv_integer);
  conv_job job = {.to = NULL};
  nd4c_cpu_window(call, attrs, call->inputs[ND4C_IN_conv_integer_w].shape + 2, &job.window);
  return run_conv(call, work, ND4C_IN_conv_integer_w, &at, &job, ND4C_INT_OF(call, conv_integer_groups));
}

static nd4c_status qlinear_conv(const nd4c_call *call, nd4c_cpu_work *work) {
  const positions at = {ND4C_IN_qlinear_conv_w_scale, ND4C_IN_qlinear_conv_w_zero_point, ND4C_IN_qlinear_conv_x_scale,
                        ND4C_IN_qlinear_conv_x_zero_point};
  const nd4c_cpu_window_attrs attrs = ND4C_CPU_WINDOW_ATTRS(qlinear_conv);
  target to = target_of(call, ND4C_IN_qlinear_conv_y_scale, ND4C_IN_qlinear_conv_y_zero_point);
  conv_job job = {.to = &to, .bias = nd4c_cpu_ref_input(call, ND4C_IN_qlinear_conv_bias)};
  nd4c_cpu_window(call, attrs, call->inputs[ND4C_IN_qlinear_conv_w].shape + 2, &job.window);
  return run_conv(call, work, ND4C_IN_qlinear_conv_w, &at, &job, ND4C_INT_OF(call, qlinear_conv_groups));
}

/* -- sums ---------------------------------------------------------------------------------------------------------- */

typedef struct add_args {
  nd4c_ref_tensor a, b, y;
  double a_scale, b_scale, y_scale;
  int32_t a_zero, b_zero, y_zero;
} add_args;

static void add_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const add_args *args = user;
  const nd4c_ref_tensor *y = &args->y;
  (void)worker;
  for (int64_t flat = begin; flat < end; flat++) {
    double a = nd4c_ref_real(&args->a, nd4c_ref_offset(&args->a, y->rank, y->shape, flat)) - args->a_zero;
    double b = nd4c_ref_real(&args->b, nd4c_ref_offset(&args->b, y->rank, y->shape, flat)) - args->b_zero;
    store_byte(y, nd4c_ref_offset(y, y->rank, y->shape, flat), (a * args->a_scale + b * args->b_scale) / args->y_scale,
               args->y_zero);
  }
}

static nd4c_status qlinear_add_run(const nd4c_call *call) {
  target a = target_of(call, ND4C_IN_qlinear_add_a_scale, ND4C_IN_qlinear_add_a_zero_point);
  target b = target_of(call, ND4C_IN_qlinear_add_b_scale, ND4C_IN_qlinear_add_b_zero_point);
  target y = target_of(call, ND4C_IN_qlinear_add_y_scale, ND4C_IN_qlinear_add_y_zero_point);
  add_args args = {nd4c_cpu_ref_input(call, ND4C_IN_qlinear_add_a),
                   nd4c_cpu_ref_input(call, ND4C_IN_qlinear_add_b),
                   nd4c_cpu_ref_output(call, 0),
                   a.scale,
                   b.scale,
                   y.scale,
                   a.zero,
                   b.zero,
                   y.zero};
  nd4c_cpu_parallel(call->outputs[0].size, nd4c_cpu_grain(16), call->width, add_range, &args);
  return ND4C_OK;
}

#define BYTES (ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_UINT8))

#define OPS(X)                                         \
  X(matmul_integer, BYTES, matmul_integer(call, work)) \
  X(qlinear_matmul, BYTES, qlinear_matmul(call, work)) \
  X(linear_int8, BYTES, linear_int8(call, work))       \
  X(conv_integer, BYTES, conv_integer(call, work))     \
  X(qlinear_conv, BYTES, qlinear_conv(call, work))
OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_quantization_product_kernels[] = {
    OPS(ND4C_CPU_WORK_ROW) ND4C_CPU_REFERENCE_ROW(qlinear_add, BYTES) NULL};
