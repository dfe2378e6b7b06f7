/* Engine simd: glu and swiglu, whose gate is computed by a loop of unary.h and then multiplied, and hardmax, which is
 * argmax and one 1 for each line. Gates of float32 are computed in double, those of 16-bit floats in float32, so that a
 * result is rounded once. dispatch/choice.c asks these kernels before the reference's; the pass swiglu leaves chains to
 * engine tile, which computes them in their own dtype. */
#include <math.h>

#include "backends/cpu/simd/elementwise/elementwise.h"

/* -- gates --------------------------------------------------------------------------------------------------------- */

enum { PIECE = 512, GATE_COST = 12 };

typedef struct gate_job {
  nd4c_unary_loop gate;
  nd4c_binary_loop multiply;
  nd4c_cast_loop widen, narrow; /* between the dtype and the one in which is computed */
  int64_t bytes;                /* an element */
  nd4c_unary_parameters parameters;
} gate_job;

/* y = gate(operand 1) times operand 2. */
static void gate_pieces(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  const gate_job *job = user;
  _Alignas(64) double made[PIECE];
  _Alignas(64) double other[PIECE];
  (void)repeated;
  for (int64_t i = 0; i < n; i += PIECE) {
    const int64_t count = n - i < PIECE ? n - i : PIECE;
    const char *gated = pointers[1] + i * job->bytes, *factor = pointers[2] + i * job->bytes;
    char *y = pointers[0] + i * job->bytes;
    job->widen(count, gated, made);
    job->widen(count, factor, other);
    job->gate(count, made, made, &job->parameters);
    job->multiply(count, made, other, made);
    job->narrow(count, made, y);
  }
}

static nd4c_status run_gate(const nd4c_call *call, enum nd4c_unary_index gate, double alpha, const nd4c_tensor *gated,
                            const nd4c_tensor *factor) {
  const nd4c_tensor *y = &call->outputs[0];
  const nd4c_dtype wide = y->dtype == ND4C_FLOAT32 ? ND4C_FLOAT64 : ND4C_FLOAT32;
  const gate_job job = {.gate = nd4c_simd.unary->loops[gate][wide],
                        .multiply = nd4c_simd.binary->loops[ND4C_BINARY_multiply][wide].both,
                        .widen = nd4c_simd.cast->loops[y->dtype][wide],
                        .narrow = nd4c_simd.cast->loops[wide][y->dtype],
                        .bytes = nd4c_cpu_dtype_bytes(y->dtype),
                        .parameters = {.alpha = alpha}};
  nd4c_nest nest;
  nd4c_nest_start(&nest, y);
  nd4c_nest_add(&nest, gated, y);
  nd4c_nest_add(&nest, factor, y);
  nd4c_nest_finish(&nest);
  nd4c_nest_run(&nest, call->width, GATE_COST, false, gate_pieces, NULL, &job);
  return ND4C_OK;
}

static nd4c_status run_glu(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const int32_t axis = nd4c_axis(ND4C_INT_OF(call, glu_axis), x->rank);
  nd4c_tensor first = *x, second;
  first.flags = 0;
  first.shape = call->outputs[0].shape;
  first.size = x->size / 2;
  second = first;
  if (second.size > 0) {
    second.data = (char *)x->data + x->shape[axis] / 2 * x->strides[axis] * nd4c_cpu_dtype_bytes(x->dtype);
  }
  return run_gate(call, ND4C_UNARY_sigmoid, 0, &second, &first);
}

static nd4c_status run_swiglu(const nd4c_call *call) {
  return run_gate(call, ND4C_UNARY_swish, ND4C_REAL_OF(call, swiglu_alpha), &call->inputs[0], &call->inputs[1]);
}

/* As the loop of swish. */
static bool usable_swiglu(const nd4c_call *call, char *reason, size_t reason_size) {
  const double alpha = ND4C_REAL_OF(call, swiglu_alpha);
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != call->inputs[1].dtype, "operands of different dtypes");
  ND4C_CPU_DECLINE_IF(!isfinite(alpha) || fabs(alpha) < 0.1, "an alpha that the loop does not take");
  return true;
}

/* -- hardmax ------------------------------------------------------------------------------------------------------- */

enum { COLUMNS = 256, LINE_GRAIN = 16384 };

typedef struct line_job {
  const char *x;
  char *y;
  nd4c_arg_loops arg;
  int64_t bytes, length, inner, blocks; /* inner: elements from one of a line to the next; blocks of columns */
  _Alignas(double) char one[sizeof(double)];
} line_job;

/* A block of the columns of one matrix, of `length` rows. */
static void mark_columns(const line_job *job, int64_t matrix, int64_t first) {
  const int64_t n = job->inner - first < COLUMNS ? job->inner - first : COLUMNS, row_bytes = job->inner * job->bytes;
  const int64_t at = (matrix * job->length * job->inner + first) * job->bytes;
  double best[COLUMNS];
  int64_t where[COLUMNS];
  for (int64_t row = 0; row < job->length; row++) {
    job->arg.fold(n, job->x + at + row * row_bytes, row, best, where);
    memset(job->y + at + row * row_bytes, 0, (size_t)(n * job->bytes));
  }
  for (int64_t i = 0; i < n; i++) {
    memcpy(job->y + at + where[i] * row_bytes + i * job->bytes, job->one, (size_t)job->bytes);
  }
}

static void lines_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const line_job *job = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    if (job->inner > 1) {
      mark_columns(job, i / job->blocks, i % job->blocks * COLUMNS);
      continue;
    }
    const int64_t at = i * job->length * job->bytes, best = job->arg.run(job->length, job->x + at);
    memset(job->y + at, 0, (size_t)(job->length * job->bytes));
    memcpy(job->y + at + best * job->bytes, job->one, (size_t)job->bytes);
  }
}

static bool usable_hardmax(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(&call->inputs[0]) || !nd4c_in_c_order(&call->outputs[0]), "not in C order");
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0, "no elements");
  return true;
}

static nd4c_status run_hardmax(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const int32_t axis = nd4c_axis(ND4C_INT_OF(call, hardmax_axis), x->rank);
  const double one = 1;
  line_job job = {.x = x->data,
                  .y = call->outputs[0].data,
                  .arg = nd4c_simd.reduction->argmax[x->dtype],
                  .bytes = nd4c_cpu_dtype_bytes(x->dtype),
                  .length = x->shape[axis],
                  .inner = 1};
  for (int32_t i = axis + 1; i < x->rank; i++) {
    job.inner *= x->shape[i];
  }
  job.blocks = nd4c_cpu_divide_up(job.inner, COLUMNS);
  if (x->dtype == ND4C_FLOAT64) {
    memcpy(job.one, &one, sizeof one);
  } else {
    nd4c_simd.cast->loops[ND4C_FLOAT64][x->dtype](1, &one, job.one);
  }
  const int64_t of_item = job.length * (job.inner < COLUMNS ? job.inner : COLUMNS);
  nd4c_cpu_parallel(x->size / job.length / job.inner * job.blocks, LINE_GRAIN / (of_item + 1) + 1, call->width,
                    lines_range, &job);
  return ND4C_OK;
}

/* A product of two rounded doubles is too far from the exact one for float64. */
#define GATED (ND4C_CPU_FLOATS & ~ND4C_DTYPE_BIT(ND4C_FLOAT64))

const nd4c_kernel *const nd4c_cpu_simd_elementwise_gates_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(glu, GATED, NULL, run_glu),
    ND4C_CPU_SIMD_KERNEL(swiglu, GATED, usable_swiglu, run_swiglu, .flags = ND4C_KERNEL_CONVERTS),
    ND4C_CPU_SIMD_KERNEL(hardmax, ND4C_CPU_FLOATS, usable_hardmax, run_hardmax), NULL};
