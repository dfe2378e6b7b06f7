/* Arrays from numbers (zeros, arange, eye, ...). dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <math.h>

#include "backends/opencl/runtime/opencl.h"
#include "backends/reading.h"

/* What one launch writes: `count` elements from `first` on, as kernels/opencl/creation/creation.cl says. */
typedef struct job {
  const char *function;
  bool round_down, wide;
  int64_t first, count;
  double numbers[5];
  int64_t whole[2], inner;
} job;

static bool needs_fp64(nd4c_op op) {
  return op != ND4C_OP_zeros && op != ND4C_OP_ones && op != ND4C_OP_zeros_like && op != ND4C_OP_ones_like &&
         op != ND4C_OP_integer_range && op != ND4C_OP_eye && op != ND4C_OP_tri && op != ND4C_OP_indices;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cl_walk walk;
  const nd4c_tensor *y = &call->outputs[0];
  if (needs_fp64(call->op->op) && !nd4c_cl_fp64_usable(call->device, reason, reason_size)) {
    return false;
  }
  return nd4c_cl_dtype_usable(call->device, y->dtype, reason, reason_size) &&
         nd4c_cl_walk_make(&walk, y->rank, y->shape, 1, &y, reason, reason_size);
}

static nd4c_status launch_job(const nd4c_call *call, const job *j) {
  const nd4c_tensor *y = &call->outputs[0];
  char reason[64];
  nd4c_cl_walk walk;
  (void)nd4c_cl_walk_make(&walk, y->rank, y->shape, 1, &y, reason, sizeof reason);
  nd4c_cl_options options = {""};
  nd4c_cl_define(&options, "OP", "op_%s", j->function);
  nd4c_cl_define_type(&options, 'Y', y->dtype);
  nd4c_cl_define(&options, "NUMBER", "%s", nd4c_cl_wide(call) ? "double" : "float");
  nd4c_cl_define_if(&options, j->round_down, "ROUND_DOWN");
  nd4c_cl_define_index(&options, call);
  return ND4C_CL_RUN(call, j->wide ? "convert+wide+creation" : "convert+creation", "create", options, j->count,
                     ND4C_CL_OUT(y), ND4C_CL_VALUE(walk), ND4C_CL_LONG(j->first, j->count),
                     ND4C_CL_REAL(j->numbers[0], j->numbers[1], j->numbers[2], j->numbers[3], j->numbers[4]),
                     ND4C_CL_LONG(j->whole[0], j->whole[1], j->inner));
}

static nd4c_status number_run(const nd4c_call *call, int64_t number) {
  const job j = {.function = "number", .count = call->outputs[0].size, .whole = {number}, .inner = 1};
  return launch_job(call, &j);
}

static nd4c_status zeros_run(const nd4c_call *call) {
  return number_run(call, 0);
}

static nd4c_status ones_run(const nd4c_call *call) {
  return number_run(call, 1);
}

static nd4c_status arange_run(const nd4c_call *call) {
  const nd4c_attr_value *attrs = call->attrs;
  const job j = {.function = "arange",
                 .count = call->outputs[0].size,
                 .numbers = {attrs[ND4C_ATTR_arange_start].as.f, 0, attrs[ND4C_ATTR_arange_step].as.f},
                 .inner = 1};
  return launch_job(call, &j);
}

static nd4c_status integer_range_run(const nd4c_call *call) {
  const nd4c_attr_value *attrs = call->attrs;
  const job j = {.function = "integer_range",
                 .count = call->outputs[0].size,
                 .whole = {attrs[ND4C_ATTR_integer_range_start].as.i, attrs[ND4C_ATTR_integer_range_step].as.i},
                 .inner = 1};
  return launch_job(call, &j);
}

/* The gap is kept in two doubles, because the rounding error of one would be multiplied by the element's number. */
static nd4c_status spaced_run(const nd4c_call *call) {
  nd4c_dtype dtype = call->outputs[0].dtype;
  const nd4c_spacing s = nd4c_spacing_of(call);
  double gap = s.stop - s.start, part = gap - s.stop, rest = (s.stop - (gap - part)) - (s.start + part);
  const job j = {.function = s.is_power ? "logspace" : "linspace",
                 .wide = s.is_power,
                 .round_down = dtype >= ND4C_INT8 && dtype <= ND4C_UINT64,
                 .count = call->outputs[0].size,
                 .numbers = {s.start, s.stop, s.base, gap, isfinite(gap) ? rest : 0},
                 .whole = {s.steps},
                 .inner = 1};
  return launch_job(call, &j);
}

static nd4c_status band_run(const nd4c_call *call, int64_t lower, int64_t upper) {
  const nd4c_tensor *y = &call->outputs[0];
  const job j = {.function = "band", .count = y->size, .whole = {lower, upper}, .inner = y->shape[1]};
  return launch_job(call, &j);
}

static nd4c_status eye_run(const nd4c_call *call) {
  int64_t k = call->attrs[ND4C_ATTR_eye_k].as.i;
  return band_run(call, k, k);
}

static nd4c_status tri_run(const nd4c_call *call) {
  return band_run(call, INT64_MIN, call->attrs[ND4C_ATTR_tri_k].as.i);
}

/* One block an axis. */
static nd4c_status indices_run(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  nd4c_status status = ND4C_OK;
  int64_t count = y->size > 0 ? y->size / y->shape[0] : 0;
  int64_t inner = count;
  for (int32_t axis = 1; axis < y->rank && count > 0 && status == ND4C_OK; axis++) {
    inner /= y->shape[axis];
    const job j = {
        .function = "indices", .first = (axis - 1) * count, .count = count, .whole = {y->shape[axis]}, .inner = inner};
    status = launch_job(call, &j);
  }
  return status;
}

static nd4c_status window_run(const nd4c_call *call) {
  const nd4c_cosines window = nd4c_cosines_of(call);
  const job j = {.function = "window",
                 .wide = true,
                 .count = call->outputs[0].size,
                 .numbers = {window.a[0], window.a[1], window.a[2]},
                 .whole = {window.n},
                 .inner = 1};
  return launch_job(call, &j);
}

/* Numbers from `turn` on are less by n. */
static nd4c_status frequencies(const nd4c_call *call, int64_t turn) {
  int64_t n = call->attrs[ND4C_ATTR_fftfreq_n].as.i;
  const job j = {.function = "frequency",
                 .count = call->outputs[0].size,
                 .numbers = {(double)n * call->attrs[ND4C_ATTR_fftfreq_d].as.f},
                 .whole = {n, turn},
                 .inner = 1};
  return launch_job(call, &j);
}

static nd4c_status fftfreq_run(const nd4c_call *call) {
  return frequencies(call, (call->attrs[ND4C_ATTR_fftfreq_n].as.i + 1) / 2);
}

static nd4c_status rfftfreq_run(const nd4c_call *call) {
  return frequencies(call, INT64_MAX);
}

/* -- kernels --------------------------------------------------------------------------------------------- */

/* zeros_like and ones_like take arrays of any dtype to be like: they are not read. full is an element-wise copy. */
#define OPS(X)                    \
  X(zeros, zeros)                 \
  X(ones, ones)                   \
  X(zeros_like, zeros)            \
  X(ones_like, ones)              \
  X(arange, arange)               \
  X(integer_range, integer_range) \
  X(linspace, spaced)             \
  X(logspace, spaced)             \
  X(eye, eye)                     \
  X(tri, tri)                     \
  X(indices, indices)             \
  X(hann_window, window)          \
  X(hamming_window, window)       \
  X(blackman_window, window)      \
  X(fftfreq, fftfreq)             \
  X(rfftfreq, rfftfreq)
#define DEFINE_KERNEL(op_name, run_name) ND4C_CL_KERNEL(op_name, ~(nd4c_dtype_set)0, usable, run_name##_run, NULL)
OPS(DEFINE_KERNEL)

const nd4c_kernel *const nd4c_cl_creation_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
