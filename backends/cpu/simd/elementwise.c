/* Engine simd: element-wise ops. Small contiguous calls go straight to the inner loop; all others through a nest.
 * dispatch/choice.c asks these kernels before the reference's; the loops come from kernels/cpu/elementwise. */
#include <math.h>

#include "backends/cpu/simd/elementwise/elementwise.h"

/* -- two operands --------------------------------------------------------------------------------------------- */

typedef struct binary_job {
  const nd4c_binary_loops *loops;
  int32_t result_bytes;
} binary_job;

static void compute_binary(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  const binary_job *job = user;
  if (!repeated[1] && !repeated[2]) {
    job->loops->both(n, pointers[1], pointers[2], pointers[0]);
  } else if (!repeated[1]) {
    job->loops->first(n, pointers[1], pointers[2], pointers[0]);
  } else if (!repeated[2]) {
    job->loops->second(n, pointers[1], pointers[2], pointers[0]);
  } else {
    job->loops->both(1, pointers[1], pointers[2], pointers[0]);
    nd4c_simd.move->move[job->result_bytes](1, n - 1, pointers[0], 0, 0, pointers[0] + job->result_bytes, 0, 1);
  }
}

static void stream_binary(const void *user, int64_t n, char *const *pointers, const int64_t *steps) {
  const binary_job *job = user;
  job->loops->stream(n, pointers[1], steps[1], pointers[2], steps[2], pointers[0]);
}

static nd4c_status run_binary_nest(const nd4c_call *call, const nd4c_binary_loops *loops, int32_t cost) {
  const nd4c_tensor *y = &call->outputs[0];
  const binary_job job = {loops, nd4c_cpu_dtype_bytes(y->dtype)};
  nd4c_nest nest;
  nd4c_nest_start(&nest, y);
  nd4c_nest_add(&nest, &call->inputs[0], y);
  nd4c_nest_add(&nest, &call->inputs[1], y);
  nd4c_nest_finish(&nest);
  nd4c_nest_run(&nest, call->width, cost, true, compute_binary, loops->stream == NULL ? NULL : stream_binary, &job);
  return ND4C_OK;
}

/* The cost of one power: kernels/cpu/elementwise/power_plain.h has loops of their own for some exponents. */
static int32_t power_cost(const nd4c_tensor *b, int32_t any) {
  if (b->size != 1 || (b->dtype != ND4C_FLOAT32 && b->dtype != ND4C_FLOAT64)) {
    return any;
  }
  const double exponent = b->dtype == ND4C_FLOAT32 ? (double)*(const float *)b->data : *(const double *)b->data;
  return exponent == 2 ? 1 : exponent == 0.5 || exponent == -1 ? 6 : any;
}

nd4c_status nd4c_simd_run_binary(const nd4c_call *call, const nd4c_binary_loops *loops, int32_t cost) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1], *y = &call->outputs[0];
  if (nd4c_simd_is_small(call, 2, cost)) {
    loops->both(y->size, a->data, b->data, y->data);
    return ND4C_OK;
  }
  return run_binary_nest(call, loops, cost);
}

/* The cost of one element of the dtype, by that of a real number. */
static inline int32_t cost_of(nd4c_dtype dtype, int32_t cost) {
  return (ND4C_DTYPE_BIT(dtype) & ND4C_CPU_COMPLEXES) != 0 ? 4 * cost : cost;
}

static inline nd4c_status run_binary(const nd4c_call *call, enum nd4c_binary_index op, int32_t cost) {
  cost = op == ND4C_BINARY_power ? power_cost(&call->inputs[1], cost) : cost_of(call->inputs[0].dtype, cost);
  return nd4c_simd_run_binary(call, &nd4c_simd.binary->loops[op][call->inputs[0].dtype], cost);
}

static bool usable_binary(const nd4c_call *call, enum nd4c_binary_index op, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != call->inputs[1].dtype, "operands of different dtypes");
  ND4C_CPU_DECLINE_IF(nd4c_simd.binary->loops[op][call->inputs[0].dtype].both == NULL, "no loop for this dtype");
  return true;
}

/* X(op, cost): the cost of one element, in the unit of nd4c_nest_run. */
#define BINARY_OPS(X) \
  X(add, 1)           \
  X(subtract, 1)      \
  X(multiply, 1)      \
  X(divide, 4)        \
  X(power, 40)        \
  X(maximum, 1)       \
  X(minimum, 1)       \
  X(equal, 1)         \
  X(not_equal, 1)     \
  X(less, 1)          \
  X(less_equal, 1)    \
  X(greater, 1)       \
  X(greater_equal, 1) \
  X(logical_and, 1)   \
  X(logical_or, 1)    \
  X(logical_xor, 1)   \
  X(prelu, 1)

#define DEFINE_BINARY(op, cost)                                                      \
  static nd4c_status run_##op(const nd4c_call *call) {                               \
    return run_binary(call, ND4C_BINARY_##op, cost);                                 \
  }                                                                                  \
  static bool usable_##op(const nd4c_call *call, char *reason, size_t reason_size) { \
    return usable_binary(call, ND4C_BINARY_##op, reason, reason_size);               \
  }
BINARY_OPS(DEFINE_BINARY)

/* -- true_divide: divide, after a cast where the quotients are float64 and the operands are not ------------------ */

typedef struct quotient_job {
  nd4c_cast_loop casts[2]; /* of a and b; NULL: it has the result's dtype */
  int32_t bytes[2];        /* an element of a and of b */
  nd4c_binary_loop divide;
} quotient_job;

/* Operands are cast in blocks that stay in the first cache. */
static void compute_quotients(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  enum { BLOCK = 512 };
  const quotient_job *job = user;
  _Alignas(64) double blocks[2][BLOCK];
  (void)repeated;
  for (int64_t start = 0; start < n; start += BLOCK) {
    int64_t count = n - start < BLOCK ? n - start : BLOCK;
    const void *operands[2];
    for (int32_t i = 0; i < 2; i++) {
      operands[i] = pointers[i + 1] + start * job->bytes[i];
      if (job->casts[i] != NULL) {
        job->casts[i](count, operands[i], blocks[i]);
        operands[i] = blocks[i];
      }
    }
    job->divide(count, operands[0], operands[1], (double *)pointers[0] + start);
  }
}

static bool is_one_dtype(const nd4c_call *call) {
  const nd4c_dtype y = call->outputs[0].dtype;
  return call->inputs[0].dtype == y && call->inputs[1].dtype == y;
}

static bool usable_true_divide(const nd4c_call *call, char *reason, size_t reason_size) {
  if (is_one_dtype(call)) {
    return usable_binary(call, ND4C_BINARY_divide, reason, reason_size);
  }
  const nd4c_dtype y = call->outputs[0].dtype;
  ND4C_CPU_DECLINE_IF(y != ND4C_FLOAT64, "operands of different dtypes");
  for (int32_t i = 0; i < 2; i++) {
    const nd4c_dtype x = call->inputs[i].dtype;
    ND4C_CPU_DECLINE_IF(x != y && nd4c_simd.cast->loops[x][y] == NULL, "no loop that casts an operand to float64");
  }
  return true;
}

static nd4c_status run_true_divide(const nd4c_call *call) {
  if (is_one_dtype(call)) {
    return run_divide(call);
  }
  const nd4c_tensor *y = &call->outputs[0];
  quotient_job job = {.divide = nd4c_simd.binary->loops[ND4C_BINARY_divide][y->dtype].both};
  nd4c_nest nest;
  nd4c_nest_start(&nest, y);
  for (int32_t i = 0; i < 2; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    job.casts[i] = x->dtype == y->dtype ? NULL : nd4c_simd.cast->loops[x->dtype][y->dtype];
    job.bytes[i] = nd4c_cpu_dtype_bytes(x->dtype);
    nd4c_nest_add(&nest, x, y);
  }
  nd4c_nest_finish(&nest);
  nd4c_nest_run(&nest, call->width, 6, false, compute_quotients, NULL, &job);
  return ND4C_OK;
}

/* -- kron: a product of a and b, each repeated along the other's axes --------------------------------------------- */

static bool usable_kron(const nd4c_call *call, char *reason, size_t reason_size) {
  int32_t rank = call->outputs[0].rank;
  ND4C_CPU_DECLINE_IF(rank == 0 || 2 * rank > ND4C_CPU_MAX_RANK, "no axes, or more than %d", ND4C_CPU_MAX_RANK / 2);
  return usable_binary(call, ND4C_BINARY_multiply, reason, reason_size);
}

static nd4c_status run_kron(const nd4c_call *call) {
  nd4c_tensor seen[3] = {call->inputs[0], call->inputs[1], call->outputs[0]};
  int64_t shapes[3][ND4C_CPU_MAX_RANK], strides[3][ND4C_CPU_MAX_RANK];
  int32_t rank = seen[2].rank;
  for (int32_t axis = 0; axis < rank; axis++) {
    int32_t pair = 2 * axis;
    for (int32_t i = 0; i < 2; i++) {
      int32_t own = axis - (rank - seen[i].rank);
      shapes[i][pair + i] = shapes[2][pair + i] = own >= 0 ? seen[i].shape[own] : 1;
      strides[i][pair + i] = own >= 0 ? seen[i].strides[own] : 0;
      shapes[i][pair + 1 - i] = 1;
      strides[i][pair + 1 - i] = 0;
    }
    strides[2][pair + 1] = seen[2].strides[axis];
    strides[2][pair] = seen[2].strides[axis] * shapes[2][pair + 1];
  }
  for (int32_t i = 0; i < 3; i++) {
    seen[i].rank = 2 * rank;
    seen[i].shape = shapes[i];
    seen[i].strides = strides[i];
    seen[i].flags = 0;
  }
  nd4c_call same = *call;
  same.inputs = seen;
  same.outputs = &seen[2];
  return run_binary_nest(&same, &nd4c_simd.binary->loops[ND4C_BINARY_multiply][seen[0].dtype],
                         cost_of(seen[0].dtype, 1));
}

/* outer, as a product of a column and a row; a small one row by row. */
static nd4c_status run_outer(const nd4c_call *call) {
  enum { FEW = 4096 };
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1], *y = &call->outputs[0];
  const nd4c_binary_loops *loops = &nd4c_simd.binary->loops[ND4C_BINARY_multiply][a->dtype];
  if (y->size <= FEW && y->size > 0 && (b->flags & y->flags & ND4C_TENSOR_CONTIGUOUS)) {
    const int64_t bytes = nd4c_cpu_dtype_bytes(a->dtype), row = b->size * nd4c_cpu_dtype_bytes(y->dtype);
    for (int64_t i = 0; i < a->size; i++) {
      loops->second(b->size, (const char *)a->data + i * a->strides[0] * bytes, b->data, (char *)y->data + i * row);
    }
    return ND4C_OK;
  }
  nd4c_tensor seen[2] = {*a, *b};
  const int64_t shapes[2][2] = {{y->shape[0], 1}, {1, y->shape[1]}};
  const int64_t strides[2][2] = {{seen[0].strides[0], 0}, {0, seen[1].strides[0]}};
  for (int32_t i = 0; i < 2; i++) {
    seen[i].rank = 2;
    seen[i].shape = shapes[i];
    seen[i].strides = strides[i];
    seen[i].flags = 0;
  }
  nd4c_call same = *call;
  same.inputs = seen;
  return run_binary_nest(&same, loops, cost_of(a->dtype, 1));
}

/* -- one operand ---------------------------------------------------------------------------------------------- */

typedef struct unary_job {
  nd4c_unary_loop loop, stream;
  int32_t bytes; /* an element of x */
  const nd4c_unary_parameters *parameters;
} unary_job;

static void compute_unary(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  const unary_job *job = user;
  (void)repeated;
  job->loop(n, pointers[1], pointers[0], job->parameters);
}

/* Elements that are not neighbours are first gathered in a buffer. */
static void stream_unary(const void *user, int64_t n, char *const *pointers, const int64_t *steps) {
  const unary_job *job = user;
  _Alignas(64) char buffer[1024];
  int64_t most = steps[1] == 1 ? n : (int64_t)sizeof buffer / job->bytes;
  for (int64_t i = 0; i < n; i += most) {
    int64_t count = most < n - i ? most : n - i;
    const char *x = pointers[1] + i * steps[1] * job->bytes;
    if (steps[1] != 1) {
      nd4c_simd.move->move[job->bytes](1, count, x, 0, steps[1], buffer, 0, 1);
      x = buffer;
    }
    job->stream(count, x, pointers[0] + i * job->bytes, job->parameters);
  }
}

static void start_unary(nd4c_nest *nest, const nd4c_call *call) {
  nd4c_nest_start(nest, &call->outputs[0]);
  nd4c_nest_add(nest, &call->inputs[0], &call->outputs[0]);
  nd4c_nest_finish(nest);
}

nd4c_status nd4c_simd_run_unary(const nd4c_call *call, nd4c_unary_loop loop, nd4c_unary_loop stream, int32_t cost,
                                const nd4c_unary_parameters *parameters) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const unary_job job = {loop, stream, nd4c_cpu_dtype_bytes(x->dtype), parameters};
  if (nd4c_simd_is_small(call, 1, cost)) {
    job.loop(y->size, x->data, y->data, parameters);
    return ND4C_OK;
  }
  nd4c_nest nest;
  start_unary(&nest, call);
  nd4c_nest_run(&nest, call->width, cost, false, compute_unary, job.stream == NULL ? NULL : stream_unary, &job);
  return ND4C_OK;
}

static nd4c_status run_unary(const nd4c_call *call, enum nd4c_unary_index op, int32_t cost,
                             const nd4c_unary_parameters *parameters) {
  const nd4c_dtype dtype = call->inputs[0].dtype;
  return nd4c_simd_run_unary(call, nd4c_simd.unary->loops[op][dtype], nd4c_simd.unary->streams[op][dtype], cost,
                             parameters);
}

static bool usable_unary(const nd4c_call *call, enum nd4c_unary_index op, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(nd4c_simd.unary->loops[op][call->inputs[0].dtype] == NULL, "no loop for this dtype");
  return true;
}

/* X(op, cost) */
#define UNARY_OPS(X) \
  X(negative, 1)     \
  X(abs, 1)          \
  X(sign, 1)         \
  X(square, 1)       \
  X(sqrt, 4)         \
  X(reciprocal, 4)   \
  X(exp, 6)          \
  X(log, 8)          \
  X(sin, 16)         \
  X(cos, 16)         \
  X(tanh, 12)        \
  X(erf, 16)         \
  X(sigmoid, 8)      \
  X(relu, 1)         \
  X(floor, 1)        \
  X(ceil, 1)         \
  X(round, 1)        \
  X(is_nan, 1)       \
  X(logical_not, 1)

#define DEFINE_UNARY(op, cost)                                                       \
  static nd4c_status run_##op(const nd4c_call *call) {                               \
    return run_unary(call, ND4C_UNARY_##op, cost, NULL);                             \
  }                                                                                  \
  static bool usable_##op(const nd4c_call *call, char *reason, size_t reason_size) { \
    return usable_unary(call, ND4C_UNARY_##op, reason, reason_size);                 \
  }
UNARY_OPS(DEFINE_UNARY)

static nd4c_status run_gelu(const nd4c_call *call) {
  bool approximate = ND4C_FLAG_OF(call, gelu_approximate);
  return run_unary(call, approximate ? ND4C_UNARY_gelu_tanh : ND4C_UNARY_gelu, 16, NULL);
}

static nd4c_status run_leaky_relu(const nd4c_call *call) {
  const nd4c_unary_parameters parameters = {.alpha = ND4C_REAL_OF(call, leaky_relu_alpha)};
  return run_unary(call, ND4C_UNARY_leaky_relu, 1, &parameters);
}

/* Activations whose attributes are the loop's parameters. X(op, cost, whether the loop is valid for the first
 * attribute, `alpha`) */
#define ACTIVATION_OPS(X)                            \
  X(elu, 8, true)                                    \
  X(selu, 8, true)                                   \
  X(celu, 8, alpha > 0)                              \
  X(softplus, 16, alpha == 1)                        \
  X(softsign, 4, true)                               \
  X(mish, 12, true)                                  \
  X(swish, 8, isfinite(alpha) && fabs(alpha) >= 0.1) \
  X(log_sigmoid, 16, true)                           \
  X(threshold, 1, true)                              \
  X(hard_sigmoid, 2, true)                           \
  X(hard_swish, 2, true)                             \
  X(hard_tanh, 1, true)                              \
  X(shrink, 1, true)

static nd4c_unary_parameters parameters_of(const nd4c_call *call) {
  return (nd4c_unary_parameters){.alpha = call->op->attr_count > 0 ? call->attrs[0].as.f : 0,
                                 .beta = call->op->attr_count > 1 ? call->attrs[1].as.f : 0};
}

#define DEFINE_ACTIVATION(op, cost, holds)                                           \
  static nd4c_status run_##op(const nd4c_call *call) {                               \
    const nd4c_unary_parameters parameters = parameters_of(call);                    \
    return run_unary(call, ND4C_UNARY_##op, cost, &parameters);                      \
  }                                                                                  \
  static bool usable_##op(const nd4c_call *call, char *reason, size_t reason_size) { \
    const double alpha = parameters_of(call).alpha;                                  \
    (void)alpha;                                                                     \
    if (!(holds))                                                                    \
      return nd4c_cpu_decline(reason, reason_size, "only for " #holds);              \
    return usable_unary(call, ND4C_UNARY_##op, reason, reason_size);                 \
  }
ACTIVATION_OPS(DEFINE_ACTIVATION)

static const nd4c_tensor *bound(const nd4c_call *call, int32_t i) {
  return i < call->input_count && call->inputs[i].dtype != ND4C_DTYPE_NONE ? &call->inputs[i] : NULL;
}

static bool usable_clip(const nd4c_call *call, char *reason, size_t reason_size) {
  for (int32_t i = ND4C_IN_clip_low; i <= ND4C_IN_clip_high; i++) {
    const nd4c_tensor *limit = bound(call, i);
    ND4C_CPU_DECLINE_IF(limit != NULL && (limit->dtype != call->inputs[0].dtype || limit->size != 1 ||
                                          limit->rank > call->inputs[0].rank),
                        "a bound of another dtype or rank, or of more than one element");
  }
  return usable_unary(call, ND4C_UNARY_clip, reason, reason_size);
}

static nd4c_status run_clip(const nd4c_call *call) {
  const nd4c_tensor *low = bound(call, ND4C_IN_clip_low), *high = bound(call, ND4C_IN_clip_high);
  const nd4c_unary_parameters parameters = {.low = low == NULL ? NULL : low->data,
                                            .high = high == NULL ? NULL : high->data};
  return run_unary(call, ND4C_UNARY_clip, 1, &parameters);
}

/* -- cast and where ------------------------------------------------------------------------------------------- */

static void compute_cast(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  const nd4c_cast_loop *loop = user;
  (void)repeated;
  (*loop)(n, pointers[1], pointers[0]);
}

static nd4c_status run_cast(const nd4c_call *call) {
  nd4c_dtype from = call->inputs[0].dtype, to = call->outputs[0].dtype;
  const nd4c_tensor *y = &call->outputs[0];
  if (from != to && nd4c_simd_is_small(call, 1, 2)) {
    nd4c_simd.cast->loops[from][to](y->size, call->inputs[0].data, y->data);
    return ND4C_OK;
  }
  nd4c_nest nest;
  start_unary(&nest, call);
  if (from == to) {
    nd4c_nest_copy(&nest, call->width);
  } else {
    nd4c_nest_run(&nest, call->width, 2, false, compute_cast, NULL, &nd4c_simd.cast->loops[from][to]);
  }
  return ND4C_OK;
}

static bool usable_cast(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_dtype from = call->inputs[0].dtype, to = call->outputs[0].dtype;
  ND4C_CPU_DECLINE_IF(from != to && nd4c_simd.cast->loops[from][to] == NULL, "no loop for this pair of dtypes");
  return true;
}

static void compute_where(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  const nd4c_where_loop *loop = user;
  (void)repeated;
  (*loop)(n, (const uint8_t *)pointers[1], pointers[2], pointers[3], pointers[0]);
}

nd4c_status nd4c_simd_where(const nd4c_call *call, int32_t condition, int32_t a, int32_t b) {
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_nest nest;
  nd4c_nest_start(&nest, y);
  nd4c_nest_add(&nest, &call->inputs[condition], y);
  nd4c_nest_add(&nest, &call->inputs[a], y);
  nd4c_nest_add(&nest, &call->inputs[b], y);
  nd4c_nest_finish(&nest);
  nd4c_nest_run(&nest, call->width, 2, false, compute_where, NULL,
                &nd4c_simd.cast->where[nd4c_cpu_dtype_bytes(y->dtype)]);
  return ND4C_OK;
}

static nd4c_status run_where(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0], *x = call->inputs;
  if (nd4c_simd_is_small(call, ND4C_IN_where_count, 2)) {
    nd4c_simd.cast->where[nd4c_cpu_dtype_bytes(y->dtype)](y->size, x[ND4C_IN_where_condition].data,
                                                          x[ND4C_IN_where_a].data, x[ND4C_IN_where_b].data, y->data);
    return ND4C_OK;
  }
  return nd4c_simd_where(call, ND4C_IN_where_condition, ND4C_IN_where_a, ND4C_IN_where_b);
}

static bool usable_where(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_dtype y = call->outputs[0].dtype;
  ND4C_CPU_DECLINE_IF(call->inputs[ND4C_IN_where_a].dtype != y || call->inputs[ND4C_IN_where_b].dtype != y,
                      "operands of different dtypes");
  ND4C_CPU_DECLINE_IF(nd4c_cpu_dtype_bytes(y) == 0, ND4C_CPU_NO_STRINGS);
  return true;
}

/* -- the loops alone -------------------------------------------------------------------------------------------- */

static bool has_numbers(const nd4c_call *call) {
  for (int32_t i = 0; i < call->input_count + call->output_count; i++) {
    const nd4c_tensor *x = i < call->input_count ? &call->inputs[i] : &call->outputs[i - call->input_count];
    if (x->dtype != ND4C_DTYPE_NONE && (x->dtype >= ND4C_DTYPE_END || nd4c_cpu_dtype_bytes(x->dtype) == 0)) {
      return false;
    }
  }
  return true;
}

static bool take_unary(const nd4c_call *call, enum nd4c_unary_index op, int32_t cost, nd4c_simd_element *element) {
  element->kind = op == ND4C_UNARY_clip ? ND4C_SIMD_CLIP : ND4C_SIMD_UNARY;
  element->unary = nd4c_simd.unary->loops[op][call->inputs[0].dtype];
  element->cost = cost;
  return element->unary != NULL;
}

static bool take_binary(const nd4c_call *call, enum nd4c_binary_index op, int32_t cost, nd4c_simd_element *element) {
  element->kind = ND4C_SIMD_BINARY;
  element->binary = &nd4c_simd.binary->loops[op][call->inputs[0].dtype];
  element->cost = cost_of(call->inputs[0].dtype, cost);
  return element->binary->both != NULL;
}

static bool take_cast(const nd4c_call *call, nd4c_simd_element *element) {
  element->kind = ND4C_SIMD_CAST;
  element->cast = nd4c_simd.cast->loops[call->inputs[0].dtype][call->outputs[0].dtype];
  element->cost = 2;
  return element->cast != NULL; /* there is none from a dtype to itself */
}

static bool take_where(const nd4c_call *call, nd4c_simd_element *element) {
  element->kind = ND4C_SIMD_WHERE;
  element->where = nd4c_simd.cast->where[nd4c_cpu_dtype_bytes(call->outputs[0].dtype)];
  element->cost = 2;
  return call->inputs[ND4C_IN_where_condition].dtype == ND4C_BOOL && element->where != NULL;
}

bool nd4c_simd_find_element(const nd4c_call *call, nd4c_simd_element *element, char *reason, size_t reason_size) {
  bool taken = false;
  memset(element, 0, sizeof *element);
  ND4C_CPU_DECLINE_IF(!has_numbers(call), "a dtype that this engine does not compute");
  element->parameters = parameters_of(call);
#define TRY(op, take)                              \
  case ND4C_OP_##op:                               \
    if (!usable_##op(call, reason, reason_size)) { \
      return false;                                \
    }                                              \
    taken = take;                                  \
    break;
#define TRY_BINARY(op, cost) TRY(op, take_binary(call, ND4C_BINARY_##op, cost, element))
#define TRY_UNARY(op, cost) TRY(op, take_unary(call, ND4C_UNARY_##op, cost, element))
#define TRY_ACTIVATION(op, cost, holds) TRY_UNARY(op, cost)
  switch ((int)call->op->op) {
    BINARY_OPS(TRY_BINARY)
    UNARY_OPS(TRY_UNARY)
    ACTIVATION_OPS(TRY_ACTIVATION)
    TRY_UNARY(clip, 1)
    TRY(true_divide, is_one_dtype(call) && take_binary(call, ND4C_BINARY_divide, 4, element))
    TRY(cast, take_cast(call, element))
    TRY(where, take_where(call, element))
    case ND4C_OP_leaky_relu:
      taken = take_unary(call, ND4C_UNARY_leaky_relu, 1, element);
      break;
    case ND4C_OP_gelu:
      taken =
          take_unary(call, ND4C_FLAG_OF(call, gelu_approximate) ? ND4C_UNARY_gelu_tanh : ND4C_UNARY_gelu, 16, element);
      break;
    default:
      return nd4c_simd_find_function(call, element, reason, reason_size);
  }
  ND4C_CPU_DECLINE_IF(!taken, "no loop for this dtype");
  return true;
}

#define KERNEL(op, cost) ND4C_CPU_SIMD_KERNEL(op, ND4C_CPU_ALL, usable_##op, run_##op),
#define ACTIVATION(op, cost, holds) ND4C_CPU_SIMD_KERNEL(op, ND4C_CPU_FLOATS, usable_##op, run_##op),
const nd4c_kernel *const nd4c_cpu_simd_elementwise_kernels[] = {
    BINARY_OPS(KERNEL) UNARY_OPS(KERNEL) ACTIVATION_OPS(ACTIVATION)
        ND4C_CPU_SIMD_KERNEL(gelu, ND4C_CPU_FLOATS, NULL, run_gelu),
    ND4C_CPU_SIMD_KERNEL(leaky_relu, ND4C_CPU_FLOATS, NULL, run_leaky_relu),
    ND4C_CPU_SIMD_KERNEL(clip, ND4C_CPU_REALS, usable_clip, run_clip),
    ND4C_CPU_SIMD_KERNEL(true_divide, ND4C_CPU_NUMBERS, usable_true_divide, run_true_divide),
    /* Before OpenBLAS, which would compute kron as many products of one number each. */
    ND4C_CPU_KERNEL("simd", kron, "kron", ND4C_CPU_PRIORITY_OPENBLAS + 1, ND4C_CPU_NUMBERS, usable_kron, run_kron),
    ND4C_CPU_SIMD_KERNEL(outer, ND4C_CPU_NUMBERS, usable_multiply, run_outer),
    ND4C_CPU_SIMD_KERNEL(cast, ND4C_CPU_MOVABLE, usable_cast, run_cast),
    ND4C_CPU_SIMD_KERNEL(where, ND4C_CPU_BOOLS, usable_where, run_where), NULL};
