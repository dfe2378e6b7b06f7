/* Engine simd: arrays from numbers (full, arange, eye, ...). Workers share the elements, or the rows.
 * dispatch/choice.c asks these kernels before the reference's; the loops come from kernels/cpu/creation. */
#include <math.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/nest.h"
#include "backends/reading.h"
#include "kernels/reference/indexing/parts.h"

enum {
  GRAIN_BYTES = 1 << 16, /* that a worker writes at least: some microseconds */
  BUFFER = 512           /* numbers that are made at a time where they have to be cast */
};

/* -- one element everywhere ---------------------------------------------------------------------------------------- */

typedef struct fill_job {
  const void *element;
  char *y;
  int32_t bytes;
} fill_job;

static void fill_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const fill_job *job = user;
  (void)worker;
  nd4c_simd.creation->fill[job->bytes](end - begin, job->element, job->y + begin * job->bytes);
}

void nd4c_simd_fill(const nd4c_tensor *y, const void *element, int32_t width) {
  static const int64_t none[1];
  const int32_t bytes = nd4c_cpu_dtype_bytes(y->dtype);
  if (y->flags & ND4C_TENSOR_CONTIGUOUS) {
    fill_job job = {element, y->data, bytes};
    nd4c_cpu_parallel(y->size, GRAIN_BYTES / bytes, width, fill_range, &job);
    return;
  }
  char kept[16];
  memcpy(kept, element, (size_t)bytes);
  const nd4c_tensor one = {
      .dtype = y->dtype, .flags = ND4C_TENSOR_CONTIGUOUS, .shape = none, .strides = none, .size = 1, .data = kept};
  nd4c_nest_copy_tensor(&one, y, width);
}

static nd4c_status fill_number(const nd4c_call *call, uint64_t number) {
  char element[16];
  nd4c_ref_number(call->outputs[0].dtype, number, element);
  nd4c_simd_fill(&call->outputs[0], element, call->width);
  return ND4C_OK;
}

/* The value is the last input; full_like has the array before it. */
static nd4c_status fill_given(const nd4c_call *call) {
  nd4c_simd_fill(&call->outputs[0], call->inputs[call->input_count - 1].data, call->width);
  return ND4C_OK;
}

#define FILL_OPS(X)                   \
  X(full, fill_given(call))           \
  X(full_like, fill_given(call))      \
  X(zeros, fill_number(call, 0))      \
  X(zeros_like, fill_number(call, 0)) \
  X(ones, fill_number(call, 1))       \
  X(ones_like, fill_number(call, 1))

/* -- ranges -------------------------------------------------------------------------------------------------------- */

typedef struct range_job {
  const nd4c_tensor *y;
  nd4c_op op;
  double start, step;    /* arange, and integer_range of 16-bit floats */
  int64_t first, stride; /* integer_range */
  nd4c_spacing spacing;  /* linspace and logspace */
  nd4c_cast_loop cast;   /* from the dtype that is computed; NULL: it is the result's */
} range_job;

/* Doubles of linspace: the last one is exact. */
static void compute_linear(const range_job *job, int64_t first, int64_t n, double *y) {
  const nd4c_spacing *spacing = &job->spacing;
  if (spacing->steps == 0) {
    nd4c_simd.creation->fill[sizeof *y](n, &spacing->start, y);
    return;
  }
  nd4c_simd.creation->spaced(n, first, spacing, y);
  if (first + n == spacing->steps + 1) {
    y[n - 1] = spacing->stop;
  }
}

static void compute_spaced(const range_job *job, int64_t first, int64_t n, double *y) {
  compute_linear(job, first, n, y);
  if (job->spacing.is_power) {
    nd4c_simd.binary->loops[ND4C_BINARY_power][ND4C_FLOAT64].second(n, &job->spacing.base, y, y);
  }
  const bool is_float = (ND4C_CPU_FLOATS >> job->y->dtype & 1) != 0;
  for (int64_t i = 0; !is_float && i < n; i++) {
    y[i] = floor(y[i]);
  }
}

static bool is_half(nd4c_dtype dtype) {
  return ((UINT64_C(0) ND4C_HALF_DTYPES(ND4C_CPU_DTYPE_BIT)) >> dtype & 1) != 0;
}

/* Up to BUFFER numbers of 8 bytes. */
static void compute_numbers(const range_job *job, int64_t first, int64_t n, void *y) {
  if (job->op == ND4C_OP_integer_range && !is_half(job->y->dtype)) {
    nd4c_simd.creation->wholes(n, first, job->first, job->stride, y);
  } else if (job->op == ND4C_OP_arange || job->op == ND4C_OP_integer_range) {
    nd4c_simd.creation->steps(n, first, job->start, job->step, y);
  } else {
    compute_spaced(job, first, n, y);
  }
}

static void range_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const range_job *job = user;
  const int64_t bytes = nd4c_cpu_dtype_bytes(job->y->dtype);
  _Alignas(64) double numbers[BUFFER];
  (void)worker;
  for (int64_t i = begin; i < end; i += BUFFER) {
    const int64_t count = end - i < BUFFER ? end - i : BUFFER;
    char *y = (char *)job->y->data + i * bytes;
    compute_numbers(job, i, count, job->cast == NULL ? (void *)y : numbers);
    if (job->cast != NULL) {
      job->cast(count, numbers, y);
    }
  }
}

/* Ranges are computed in int64 or float64. Only float64 is cast to 16-bit floats with one rounding. */
static nd4c_dtype computed_in(nd4c_op op, nd4c_dtype dtype) {
  return op == ND4C_OP_integer_range && !is_half(dtype) ? ND4C_INT64 : ND4C_FLOAT64;
}

static nd4c_status run_range(const nd4c_call *call, range_job job) {
  const nd4c_tensor *y = &call->outputs[0];
  const nd4c_dtype from = computed_in(call->op->op, y->dtype);
  job.y = y;
  job.op = call->op->op;
  job.cast = nd4c_simd.cast->loops[from][y->dtype]; /* there is none from a dtype to itself */
  nd4c_cpu_parallel(y->size, GRAIN_BYTES / 8, call->width, range_range, &job);
  return ND4C_OK;
}

static bool usable_range(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *y = &call->outputs[0];
  const nd4c_dtype from = computed_in(call->op->op, y->dtype);
  ND4C_CPU_DECLINE_IF((y->flags & ND4C_TENSOR_CONTIGUOUS) == 0, "a result with gaps");
  ND4C_CPU_DECLINE_IF(y->dtype != from && nd4c_simd.cast->loops[from][y->dtype] == NULL,
                      "no loop that casts the numbers to this dtype");
  return true;
}

/* Whether doubles in two parts hold all that is computed on the way. */
static bool usable_spaced(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_spacing spacing = nd4c_spacing_of(call);
  const double largest = (fabs(spacing.start) + fabs(spacing.stop)) * (double)spacing.steps;
  ND4C_CPU_DECLINE_IF(nd4c_simd.creation->spaced == NULL, "no fused multiply-add on this level");
  ND4C_CPU_DECLINE_IF(!(largest < 0x1p1000) || spacing.steps > INT64_C(1) << 53,
                      "numbers that are not far from overflow");
  ND4C_CPU_DECLINE_IF(spacing.is_power && call->outputs[0].dtype == ND4C_FLOAT64,
                      "powers of float64 that are rounded once are those of long double");
  ND4C_CPU_DECLINE_IF(spacing.is_power && !(spacing.base > 0 && isfinite(spacing.base)), "a base that is not positive");
  return usable_range(call, reason, reason_size);
}

static nd4c_status run_spaced(const nd4c_call *call) {
  return run_range(call, (range_job){.spacing = nd4c_spacing_of(call)});
}

static nd4c_status run_arange(const nd4c_call *call) {
  return run_range(call,
                   (range_job){.start = ND4C_REAL_OF(call, arange_start), .step = ND4C_REAL_OF(call, arange_step)});
}

/* Whether doubles hold the integers that become 16-bit floats. */
static bool usable_integer_range(const nd4c_call *call, char *reason, size_t reason_size) {
  const double start = (double)ND4C_INT_OF(call, integer_range_start),
               step = (double)ND4C_INT_OF(call, integer_range_step);
  const nd4c_tensor *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(is_half(y->dtype) && fabs(start) + fabs(step) * (double)y->size > 0x1p52,
                      "integers beyond 2^52 as 16-bit floats");
  return usable_range(call, reason, reason_size);
}

static nd4c_status run_integer_range(const nd4c_call *call) {
  return run_range(call, (range_job){.start = (double)ND4C_INT_OF(call, integer_range_start),
                                     .step = (double)ND4C_INT_OF(call, integer_range_step),
                                     .first = ND4C_INT_OF(call, integer_range_start),
                                     .stride = ND4C_INT_OF(call, integer_range_step)});
}

/* -- rows of matrices and grids ------------------------------------------------------------------------------------ */

typedef struct rows_job {
  const nd4c_tensor *y;
  char one[16];
  int64_t lower, upper; /* ones where lower <= column - row <= upper */
  nd4c_cast_loop cast;  /* of indices; NULL: they are int64 */
} rows_job;

static int64_t between(int64_t low, int64_t x, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

static void band_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const rows_job *job = user;
  const int64_t columns = job->y->shape[1], bytes = nd4c_cpu_dtype_bytes(job->y->dtype);
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    const int64_t from = between(0, row + job->lower, columns), to = between(from, row + job->upper + 1, columns);
    char *y = (char *)job->y->data + row * columns * bytes;
    memset(y, 0, (size_t)(from * bytes));
    nd4c_simd.creation->fill[bytes](to - from, job->one, y + from * bytes);
    memset(y + to * bytes, 0, (size_t)((columns - to) * bytes));
  }
}

static int64_t row_grain(int64_t columns, int32_t bytes) {
  return GRAIN_BYTES / bytes / (columns + 1) + 1;
}

static nd4c_status band_of_ones(const nd4c_call *call, int64_t lower, int64_t upper) {
  const nd4c_tensor *y = &call->outputs[0];
  const int64_t rows = y->shape[0], columns = y->shape[1];
  /* Bounds far outside are the same as those just outside, and cannot overflow. */
  rows_job job = {.y = y,
                  .lower = between(-rows - columns, lower, rows + columns),
                  .upper = between(-rows - columns, upper, rows + columns)};
  nd4c_ref_number(y->dtype, 1, job.one);
  nd4c_cpu_parallel(y->size == 0 ? 0 : rows, row_grain(columns, nd4c_cpu_dtype_bytes(y->dtype)), call->width,
                    band_range, &job);
  return ND4C_OK;
}

static nd4c_status run_eye(const nd4c_call *call) {
  return band_of_ones(call, ND4C_INT_OF(call, eye_k), ND4C_INT_OF(call, eye_k));
}

static nd4c_status run_tri(const nd4c_call *call) {
  return band_of_ones(call, INT64_MIN, ND4C_INT_OF(call, tri_k));
}

static bool usable_rows(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0, "a result with gaps");
  return true;
}

/* The numbers 0 .. n - 1. */
static void count_up(const rows_job *job, int64_t n, char *y) {
  const int64_t bytes = nd4c_cpu_dtype_bytes(job->y->dtype);
  double numbers[BUFFER];
  for (int64_t i = 0; i < n; i += BUFFER) {
    const int64_t count = n - i < BUFFER ? n - i : BUFFER;
    char *to = y + i * bytes;
    if (is_half(job->y->dtype)) {
      nd4c_simd.creation->steps(count, i, 0, 1, numbers);
    } else {
      nd4c_simd.creation->wholes(count, i, 0, 1, (int64_t *)(void *)(job->cast == NULL ? to : (char *)numbers));
    }
    if (job->cast != NULL) {
      job->cast(count, numbers, to);
    }
  }
}

/* Rows along the last axis: all indices of that axis, or one of another axis. */
static void indices_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const rows_job *job = user;
  const nd4c_tensor *y = job->y;
  const int32_t last = y->rank - 1;
  const int64_t columns = y->shape[last], bytes = nd4c_cpu_dtype_bytes(y->dtype);
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    char *to = (char *)y->data + row * columns * bytes, element[16];
    int64_t rest = row, index[ND4C_CPU_MAX_RANK];
    for (int32_t axis = last - 1; axis >= 0; axis--) {
      index[axis] = rest % y->shape[axis];
      rest /= y->shape[axis];
    }
    if (index[0] + 1 == last) {
      count_up(job, columns, to);
    } else {
      nd4c_ref_number(y->dtype, (uint64_t)index[index[0] + 1], element);
      nd4c_simd.creation->fill[bytes](columns, element, to);
    }
  }
}

static bool usable_indices(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(y->rank < 2, "no axes");
  return usable_rows(call, reason, reason_size);
}

static nd4c_status run_indices(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  const int64_t columns = y->shape[y->rank - 1];
  rows_job job = {.y = y, .cast = nd4c_simd.cast->loops[computed_in(ND4C_OP_integer_range, y->dtype)][y->dtype]};
  nd4c_cpu_parallel(y->size == 0 ? 0 : y->size / columns, row_grain(columns, nd4c_cpu_dtype_bytes(y->dtype)),
                    call->width, indices_range, &job);
  return ND4C_OK;
}

#define DEFINE_FILL(op, expression)                    \
  static nd4c_status run_##op(const nd4c_call *call) { \
    return expression;                                 \
  }
FILL_OPS(DEFINE_FILL)

#define FILL_KERNEL(op, expression) ND4C_CPU_SIMD_KERNEL(op, ND4C_CPU_MOVABLE, NULL, run_##op),
const nd4c_kernel *const nd4c_cpu_simd_creation_kernels[] = {
    FILL_OPS(FILL_KERNEL) ND4C_CPU_SIMD_KERNEL(arange, ND4C_CPU_REALS, usable_range, run_arange),
    ND4C_CPU_SIMD_KERNEL(integer_range, ND4C_CPU_REALS, usable_integer_range, run_integer_range),
    ND4C_CPU_SIMD_KERNEL(linspace, ND4C_CPU_REALS, usable_spaced, run_spaced),
    ND4C_CPU_SIMD_KERNEL(logspace, ND4C_CPU_FLOATS, usable_spaced, run_spaced),
    ND4C_CPU_SIMD_KERNEL(eye, ND4C_CPU_MOVABLE, usable_rows, run_eye),
    ND4C_CPU_SIMD_KERNEL(tri, ND4C_CPU_MOVABLE, usable_rows, run_tri),
    ND4C_CPU_SIMD_KERNEL(indices, ND4C_CPU_REALS, usable_indices, run_indices),
    NULL};
