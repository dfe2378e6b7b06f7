/* Engine simd: normalisations over any axes by numbers of each group of elements, which are reduced into scratch in
 * double first: standardize, lp_normalize, clip_by_norm, batch_norm_training, layer_norm_with_statistics; global_norm.
 * dispatch/choice.c asks these kernels before the reference's. */
#include <math.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/reduction/reduction_terms.h"
#include "backends/cpu/support/flat.h"
#include "kernels/reference/normalization/normalization.h"
#include "kernels/reference/support/value.h"

enum { GRAIN = 8192 };

/* -- numbers of groups -------------------------------------------------------------------------------------------- */

/* Tensors of double with x's rank, whose reduced axes have extent 1, in scratch. */
typedef struct groups {
  bool reduced[ND4C_CPU_MAX_RANK];
  int64_t count, shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
  nd4c_tensor first, second;
} groups;

static void groups_make(const nd4c_call *call, const bool *reduced, groups *g) {
  const nd4c_tensor *x = &call->inputs[0];
  g->count = 1;
  for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
    g->reduced[axis] = reduced[axis];
    g->shape[axis] = reduced[axis] ? 1 : x->shape[axis];
    g->strides[axis] = g->count;
    g->count *= g->shape[axis];
  }
  g->first = (nd4c_tensor){.dtype = ND4C_FLOAT64,
                           .flags = ND4C_TENSOR_CONTIGUOUS,
                           .rank = x->rank,
                           .shape = g->shape,
                           .strides = g->strides,
                           .size = g->count,
                           .data = call->scratch};
  g->second = g->first;
  g->second.data = (double *)call->scratch + g->count;
}

/* Bytes for two numbers of each group, and for two lists as long as the longest of the other inputs. */
static int64_t groups_bytes(const nd4c_call *call, const bool *reduced) {
  const nd4c_tensor *x = &call->inputs[0];
  int64_t count = 1, longest = 0;
  for (int32_t axis = 0; axis < x->rank; axis++) {
    count *= reduced[axis] ? 1 : x->shape[axis];
  }
  for (int32_t i = 1; i < call->input_count; i++) {
    const nd4c_tensor *list = nd4c_cpu_input(call, i);
    longest = list != NULL && list->size > longest ? list->size : longest;
  }
  return 2 * (count + longest) * (int64_t)sizeof(double);
}

/* A call like `call` that reduces x into numbers of the groups. */
typedef struct inner_call {
  int64_t axes[ND4C_CPU_MAX_RANK];
  nd4c_attr_value attrs[2];
  nd4c_tensor outputs[2];
  nd4c_call call;
} inner_call;

static const nd4c_call *inner_make(const nd4c_call *call, const groups *g, inner_call *inner) {
  inner->call = *call;
  inner->attrs[0] = (nd4c_attr_value){.kind = ND4C_ATTR_INTS, .as.ints = inner->axes};
  inner->attrs[1] = (nd4c_attr_value){.kind = ND4C_ATTR_BOOL, .as.i = 1};
  for (int32_t axis = 0; axis < call->inputs[0].rank; axis++) {
    if (g->reduced[axis]) {
      inner->axes[inner->attrs[0].count++] = axis;
    }
  }
  inner->outputs[0] = g->first;
  inner->outputs[1] = g->second;
  inner->call.attrs = inner->attrs;
  inner->call.outputs = inner->outputs;
  return &inner->call;
}

/* -- y = (x - middle) / divisor * scale + bias -------------------------------------------------------------------- */

enum operand { X, MIDDLE, DIVISOR, SCALE, BIAS, OPERANDS };

typedef struct affine {
  const nd4c_tensor *tensors[OPERANDS]; /* NULL: left out */
  nd4c_simd_flat operands[OPERANDS], y;
  int64_t steps[OPERANDS]; /* of the numbers in a run */
  const nd4c_reduction_loops *rounds;
  bool stream;
} affine;

/* n numbers in double: in place, or cast into the buffer. */
static const double *numbers_of(const affine *a, enum operand which, int64_t from, int64_t n, double *buffer) {
  _Alignas(64) char given[ND4C_FLAT_BYTES];
  const nd4c_dtype dtype = a->tensors[which]->dtype;
  if (dtype == ND4C_FLOAT64) {
    return (const double *)(const void *)nd4c_simd_flat_read(&a->operands[which], from, n, (char *)buffer);
  }
  nd4c_simd.cast->loops[dtype][ND4C_FLOAT64](n, nd4c_simd_flat_read(&a->operands[which], from, n, given), buffer);
  return buffer;
}

static void affine_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  static const enum nd4c_binary_index steps[OPERANDS] = {[MIDDLE] = ND4C_BINARY_subtract,
                                                         [DIVISOR] = ND4C_BINARY_divide,
                                                         [SCALE] = ND4C_BINARY_multiply,
                                                         [BIAS] = ND4C_BINARY_add};
  const affine *a = user;
  _Alignas(64) double made[ND4C_FLAT_PIECE], buffer[ND4C_FLAT_PIECE];
  _Alignas(64) char result[ND4C_FLAT_BYTES];
  (void)worker;
  for (int64_t from = begin; from < end; from += ND4C_FLAT_PIECE) {
    const int64_t n = end - from < ND4C_FLAT_PIECE ? end - from : ND4C_FLAT_PIECE;
    const double *x = numbers_of(a, X, from, n, made);
    for (int which = MIDDLE; which < OPERANDS; which++) {
      if (a->tensors[which] != NULL) {
        const double *other = numbers_of(a, (enum operand)which, from, n, buffer);
        nd4c_simd.binary->loops[steps[which]][ND4C_FLOAT64].both(n, x, other, made);
        x = made;
      }
    }
    char *place = nd4c_simd_flat_place(&a->y, from, a->stream, result);
    a->rounds->store(n, x, 1, place);
    nd4c_simd_flat_write(&a->y, from, n, a->stream, place);
  }
  if (a->stream) {
    nd4c_simd.move->stream_fence();
  }
}

/* -- the same in one pass: contiguous x and y, numbers in double whose runs have one length ------------------------ */

typedef struct by_numbers_job {
  const affine *a;
  nd4c_by_numbers_loop loop;
  const char *x;
  int64_t run;
} by_numbers_job;

/* The numbers of a run of x; of operands that are left out `neutral`. */
static const double *run_at(const affine *a, enum operand which, int64_t row, const double *neutral) {
  const nd4c_simd_flat *flat = &a->operands[which];
  int64_t offset = 0;
  if (a->tensors[which] == NULL) {
    return neutral;
  }
  for (int32_t axis = flat->rank - 2; axis >= 0; axis--) {
    offset += (axis > 0 ? row % flat->shape[axis] : row) * flat->strides[axis];
    row = axis > 0 ? row / flat->shape[axis] : 0;
  }
  return (const double *)(const void *)flat->data + offset;
}

static void by_numbers_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  static const double zero = 0, one = 1;
  const by_numbers_job *job = user;
  const affine *a = job->a;
  _Alignas(64) char result[ND4C_FLAT_BYTES];
  int64_t n = 0;
  (void)worker;
  for (int64_t from = begin; from < end; from += n) {
    const int64_t row = from / job->run, at = from % job->run;
    const int64_t left = job->run - at < end - from ? job->run - at : end - from;
    nd4c_by_numbers numbers = {run_at(a, MIDDLE, row, &zero), run_at(a, DIVISOR, row, &one),
                               run_at(a, SCALE, row, NULL), run_at(a, BIAS, row, NULL)};
    numbers.middle += at * a->steps[MIDDLE];
    numbers.divisor += at * a->steps[DIVISOR];
    if (numbers.scale != NULL) {
      numbers.scale += at * a->steps[SCALE];
      numbers.bias += at * a->steps[BIAS];
    }
    n = left < ND4C_FLAT_PIECE ? left : ND4C_FLAT_PIECE;
    char *place = nd4c_simd_flat_place(&a->y, from, a->stream, result);
    job->loop(n, job->x + from * a->operands[X].bytes, &numbers, place);
    nd4c_simd_flat_write(&a->y, from, n, a->stream, place);
  }
  if (a->stream) {
    nd4c_simd.move->stream_fence();
  }
}

/* Finds the loop for runs of the numbers; false: they have none in common. */
static bool plan_runs(affine *a, by_numbers_job *job) {
  const nd4c_by_numbers_loops *loops = &nd4c_simd.by_numbers->loops[a->tensors[X]->dtype];
  job->run = 0;
  for (int which = MIDDLE; which < OPERANDS; which++) {
    const nd4c_simd_flat *flat = &a->operands[which];
    if (a->tensors[which] == NULL) {
      continue;
    }
    const int64_t run = flat->shape[flat->rank - 1];
    a->steps[which] = flat->strides[flat->rank - 1];
    if (a->tensors[which]->dtype != ND4C_FLOAT64 || (job->run != 0 && run != job->run) || a->steps[which] > 1) {
      return false;
    }
    job->run = run;
  }
  const bool scaled = a->tensors[SCALE] != NULL, both = a->tensors[MIDDLE] != NULL && a->tensors[DIVISOR] != NULL;
  const bool varies = a->steps[MIDDLE] == 1 || a->steps[DIVISOR] == 1, scale_varies = a->steps[SCALE] == 1;
  if (scaled != (a->tensors[BIAS] != NULL) || a->steps[SCALE] != a->steps[BIAS] || (varies && !both) ||
      (varies && scaled && !scale_varies)) {
    return false;
  }
  job->loop = varies ? loops->each : scale_varies ? loops->row : loops->one;
  return a->operands[X].dense && a->y.dense;
}

static void affine_run(const nd4c_call *call, affine *a, const nd4c_tensor *y) {
  const nd4c_tensor *x = &call->inputs[0];
  a->tensors[X] = x;
  for (int which = X; which < OPERANDS; which++) {
    if (a->tensors[which] != NULL) {
      nd4c_simd_flat_make(&a->operands[which], a->tensors[which], x);
    }
  }
  nd4c_simd_flat_make(&a->y, y, x);
  a->rounds = &nd4c_simd.reduction->loops[ND4C_REDUCE_prod][y->dtype]; /* which rounds and does not divide */
  a->stream = y->size * a->y.bytes > nd4c_simd_stream_bytes;
  by_numbers_job job = {.a = a, .x = x->data};
  if (plan_runs(a, &job)) {
    nd4c_cpu_parallel(x->size, GRAIN, call->width, by_numbers_range, &job);
  } else {
    nd4c_cpu_parallel(x->size, GRAIN, call->width, affine_range, a);
  }
}

static double *numbers(const nd4c_tensor *tensor) {
  return tensor->data;
}

void nd4c_simd_subtract_rows(const nd4c_call *call, int32_t axis, const nd4c_tensor *rows, const nd4c_tensor *y) {
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
  nd4c_tensor middle = *rows;
  affine a = {.tensors = {[MIDDLE] = &middle}};
  middle.rank = rows->rank + 1;
  middle.shape = shape;
  middle.strides = strides;
  for (int32_t i = 0; i < middle.rank; i++) {
    shape[i] = i == axis ? 1 : rows->shape[i < axis ? i : i - 1];
    strides[i] = i == axis ? 0 : rows->strides[i < axis ? i : i - 1];
  }
  affine_run(call, &a, y);
}

/* -- ops ---------------------------------------------------------------------------------------------------------- */

static void lp_axes(const nd4c_call *call, bool *reduced) {
  const int32_t rank = call->inputs[0].rank, only = nd4c_axis(ND4C_INT_OF(call, lp_normalize_axis), rank);
  for (int32_t axis = 0; axis < rank; axis++) {
    reduced[axis] = axis == only;
  }
}

/* The norms of the groups in place of their sums of powers. */
static void take_norms(const nd4c_call *call, groups *g, double p) {
  const nd4c_ref_tensor x = nd4c_cpu_ref_input(call, 0);
  int64_t steps[ND4C_CPU_MAX_RANK];
  for (int32_t axis = 0; axis < x.rank; axis++) {
    steps[axis] = g->reduced[axis] ? 0 : g->strides[axis];
  }
  nd4c_ref_group_norms(&x, steps, g->count, p, numbers(&g->first), numbers(&g->second));
}

static nd4c_status run_lp_normalize(const nd4c_call *call) {
  const double p = ND4C_REAL_OF(call, lp_normalize_p), least = ND4C_REAL_OF(call, lp_normalize_epsilon);
  bool reduced[ND4C_CPU_MAX_RANK];
  inner_call inner;
  groups g;
  lp_axes(call, reduced);
  groups_make(call, reduced, &g);
  ND4C_BACKEND_TRY(nd4c_simd_sum_powers(inner_make(call, &g, &inner), p));
  take_norms(call, &g, p);
  for (int64_t i = 0; i < g.count; i++) {
    const double found = numbers(&g.first)[i], norm = found < least ? least : found;
    numbers(&g.first)[i] = norm == 0 ? INFINITY : norm; /* 0, whatever x is */
  }
  affine a = {.tensors = {[DIVISOR] = &g.first}};
  affine_run(call, &a, &call->outputs[0]);
  return ND4C_OK;
}

static void standard_axes(const nd4c_call *call, bool *reduced) {
  nd4c_cpu_reduced_axes(call->inputs[0].rank, &call->attrs[ND4C_ATTR_standardize_axes], reduced);
}

static nd4c_status run_standardize(const nd4c_call *call) {
  const double epsilon = ND4C_REAL_OF(call, standardize_epsilon);
  bool reduced[ND4C_CPU_MAX_RANK];
  inner_call inner;
  groups g;
  standard_axes(call, reduced);
  groups_make(call, reduced, &g);
  ND4C_BACKEND_TRY(nd4c_simd_moments(inner_make(call, &g, &inner)));
  for (int64_t i = 0; i < g.count; i++) {
    numbers(&g.second)[i] = sqrt(numbers(&g.second)[i]) + epsilon;
  }
  affine a = {.tensors = {[MIDDLE] = &g.first, [DIVISOR] = &g.second}};
  affine_run(call, &a, &call->outputs[0]);
  return ND4C_OK;
}

static void clip_axes(const nd4c_call *call, bool *reduced) {
  nd4c_cpu_reduced_axes(call->inputs[0].rank, &call->attrs[ND4C_ATTR_clip_by_norm_axes], reduced);
}

static nd4c_status run_clip_by_norm(const nd4c_call *call) {
  const double most = ND4C_REAL_OF(call, clip_by_norm_max_norm);
  const nd4c_tensor *given = nd4c_cpu_input(call, ND4C_IN_clip_by_norm_norm);
  bool reduced[ND4C_CPU_MAX_RANK];
  inner_call inner;
  groups g;
  clip_axes(call, reduced);
  groups_make(call, reduced, &g);
  if (given == NULL) {
    ND4C_BACKEND_TRY(nd4c_simd_sum_powers(inner_make(call, &g, &inner), 2));
    take_norms(call, &g, 2);
  }
  /* One division, unless the divisor would overflow. */
  bool is_far = false;
  for (int64_t i = 0; i < g.count; i++) {
    double *norm = &numbers(&g.first)[i], *scale = &numbers(&g.second)[i];
    *norm = given != NULL ? nd4c_value_load(given->dtype, given->data, 0).f : *norm;
    *scale = *norm <= most ? 1 : most;
    *norm = *norm <= most ? 1 : *norm;
    is_far = is_far || isinf(*norm / *scale);
  }
  for (int64_t i = 0; !is_far && i < g.count; i++) {
    numbers(&g.first)[i] /= numbers(&g.second)[i];
  }
  affine a = {.tensors = {[DIVISOR] = &g.first, [SCALE] = is_far ? &g.second : NULL}};
  affine_run(call, &a, &call->outputs[0]);
  return ND4C_OK;
}

static void channel_axes(const nd4c_call *call, bool *reduced) {
  for (int32_t axis = 0; axis < call->inputs[0].rank; axis++) {
    reduced[axis] = axis != 1;
  }
}

/* A list of numbers in double, in scratch behind those of the groups; of NULL `neutral`, as many as `like` has. */
static nd4c_tensor wide_list(const groups *g, int32_t place, const nd4c_tensor *given, const nd4c_tensor *like,
                             double neutral, int64_t *stride) {
  const nd4c_tensor *from = given != NULL ? given : like;
  nd4c_tensor tensor = *from;
  tensor.dtype = ND4C_FLOAT64;
  tensor.flags = ND4C_TENSOR_CONTIGUOUS;
  tensor.strides = stride;
  tensor.data = numbers(&g->second) + g->count + place * from->size;
  *stride = 1;
  for (int64_t i = 0; i < from->size; i++) {
    numbers(&tensor)[i] = given != NULL ? nd4c_value_load(given->dtype, given->data, i * given->strides[0]).f : neutral;
  }
  return tensor;
}

/* One number for each channel, seen with x's rank. */
static nd4c_tensor by_channel(const nd4c_tensor *x, const nd4c_tensor *given, const groups *g, int32_t place,
                              int64_t *strides) {
  int64_t one = 0;
  nd4c_tensor tensor = wide_list(g, place, given, given, 0, &one);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    strides[axis] = axis == 1 ? 1 : 0;
  }
  tensor.rank = x->rank;
  tensor.shape = g->first.shape;
  tensor.strides = strides;
  return tensor;
}

static nd4c_status run_batch_norm_training(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const double epsilon = ND4C_REAL_OF(call, batch_norm_training_epsilon);
  const double momentum = ND4C_REAL_OF(call, batch_norm_training_momentum);
  int64_t strides[2][ND4C_CPU_MAX_RANK];
  bool reduced[ND4C_CPU_MAX_RANK];
  inner_call inner;
  groups g;
  channel_axes(call, reduced);
  groups_make(call, reduced, &g);
  ND4C_BACKEND_TRY(nd4c_simd_moments(inner_make(call, &g, &inner)));
  double *const own[2] = {numbers(&g.first), numbers(&g.second)};
  for (int32_t which = 0; which < 2; which++) {
    const nd4c_tensor *old = &call->inputs[ND4C_IN_batch_norm_training_mean + which], *next = &call->outputs[1 + which];
    for (int64_t i = 0; i < g.count; i++) {
      double before = nd4c_value_load(old->dtype, old->data, i * old->strides[0]).f;
      nd4c_reduction_store(next->dtype, before * momentum + own[which][i] * (1 - momentum),
                           (char *)next->data + i * next->strides[0] * nd4c_cpu_dtype_bytes(next->dtype));
    }
  }
  for (int64_t i = 0; i < g.count; i++) {
    own[1][i] = sqrt(own[1][i] + epsilon);
  }
  nd4c_tensor scale = by_channel(x, &call->inputs[ND4C_IN_batch_norm_training_scale], &g, 0, strides[0]);
  nd4c_tensor bias = by_channel(x, &call->inputs[ND4C_IN_batch_norm_training_bias], &g, 1, strides[1]);
  affine a = {.tensors = {[MIDDLE] = &g.first, [DIVISOR] = &g.second, [SCALE] = &scale, [BIAS] = &bias}};
  affine_run(call, &a, &call->outputs[0]);
  return ND4C_OK;
}

static void layer_axes(const nd4c_call *call, bool *reduced) {
  const int32_t rank = call->inputs[0].rank;
  const int32_t first = nd4c_axis(ND4C_INT_OF(call, layer_norm_with_statistics_axis), rank);
  for (int32_t axis = 0; axis < rank; axis++) {
    reduced[axis] = axis >= first;
  }
}

/* A result that has the shape of the groups. */
static void store_numbers(const double *from, const nd4c_tensor *y) {
  nd4c_simd_flat flat;
  nd4c_simd_flat_make(&flat, y, y);
  for (int64_t i = 0; i < y->size; i++) {
    _Alignas(double) char element[sizeof(double)];
    char *place = nd4c_simd_flat_place(&flat, i, false, element);
    nd4c_reduction_store(y->dtype, from[i], place);
    nd4c_simd_flat_write(&flat, i, 1, false, place);
  }
}

static nd4c_status run_layer_norm_with_statistics(const nd4c_call *call) {
  const double epsilon = ND4C_REAL_OF(call, layer_norm_with_statistics_epsilon);
  bool reduced[ND4C_CPU_MAX_RANK];
  inner_call inner;
  groups g;
  layer_axes(call, reduced);
  groups_make(call, reduced, &g);
  ND4C_BACKEND_TRY(nd4c_simd_moments(inner_make(call, &g, &inner)));
  double *deviations = numbers(&g.second);
  store_numbers(numbers(&g.first), &call->outputs[1]);
  for (int64_t i = 0; i < g.count; i++) {
    deviations[i] = 1 / sqrt(deviations[i] + epsilon);
  }
  store_numbers(deviations, &call->outputs[2]);
  for (int64_t i = 0; i < g.count; i++) {
    deviations[i] = 1 / deviations[i];
  }
  affine a = {.tensors = {[MIDDLE] = &g.first,
                          [DIVISOR] = &g.second,
                          [SCALE] = nd4c_cpu_input(call, ND4C_IN_layer_norm_with_statistics_scale),
                          [BIAS] = nd4c_cpu_input(call, ND4C_IN_layer_norm_with_statistics_bias)}};
  const nd4c_tensor *scale = a.tensors[SCALE], *bias = a.tensors[BIAS], *like = scale != NULL ? scale : bias;
  nd4c_tensor lists[2];
  int64_t strides[2];
  if (like != NULL && like->rank == 1 &&
      (scale == NULL || bias == NULL || (bias->rank == 1 && bias->size == scale->size))) {
    lists[0] = wide_list(&g, 0, scale, like, 1, &strides[0]);
    lists[1] = wide_list(&g, 1, bias, like, 0, &strides[1]);
    a.tensors[SCALE] = &lists[0];
    a.tensors[BIAS] = &lists[1];
  }
  affine_run(call, &a, &call->outputs[0]);
  return ND4C_OK;
}

static nd4c_status run_global_norm(const nd4c_call *call) {
  double sum = 0;
  for (int32_t i = 0; i < call->input_count; i++) {
    double own = 0;
    nd4c_call one = *call;
    const nd4c_attr_value attrs[2] = {{.kind = ND4C_ATTR_INTS}, {.kind = ND4C_ATTR_BOOL}};
    nd4c_tensor y = {.dtype = ND4C_FLOAT64, .size = 1, .data = &own};
    one.inputs = &call->inputs[i];
    one.input_count = 1;
    one.attrs = attrs;
    one.outputs = &y;
    if (one.inputs->size > 0) {
      ND4C_BACKEND_TRY(nd4c_simd_sum_powers(&one, 2));
    }
    sum += own;
  }
  nd4c_reduction_store(call->outputs[0].dtype, sqrt(sum), call->outputs[0].data);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0, "no elements");
  return true;
}

static bool usable_norm(const nd4c_call *call, char *reason, size_t reason_size) {
  (void)call, (void)reason, (void)reason_size;
  return true;
}

/* X(op, which axes it reduces) */
#define OPS(X)                         \
  X(lp_normalize, lp_axes)             \
  X(standardize, standard_axes)        \
  X(clip_by_norm, clip_axes)           \
  X(batch_norm_training, channel_axes) \
  X(layer_norm_with_statistics, layer_axes)

#define DEFINE_SCRATCH(op, axes)                       \
  static int64_t op##_scratch(const nd4c_call *call) { \
    bool reduced[ND4C_CPU_MAX_RANK];                   \
    axes(call, reduced);                               \
    return groups_bytes(call, reduced);                \
  }
OPS(DEFINE_SCRATCH)

#define KERNEL(op, axes) ND4C_CPU_SIMD_KERNEL(op, ND4C_CPU_FLOATS, usable, run_##op, .scratch_bytes = op##_scratch),
const nd4c_kernel *const nd4c_cpu_simd_reduction_normalize_kernels[] = {
    OPS(KERNEL) ND4C_CPU_SIMD_KERNEL(global_norm, ND4C_CPU_FLOATS, usable_norm, run_global_norm), NULL};
