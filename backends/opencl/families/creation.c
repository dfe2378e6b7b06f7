/* Arrays from numbers (zeros, arange, eye, ...). dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <math.h>

#include "backends/opencl/support/moving.h"

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

static nd4c_status check(const nd4c_cl_step *step) {
  const nd4c_tensor *y = &step->call->outputs[0];
  void *device = step->call->device;
  nd4c_cl_walk walk;
  bool usable = (!needs_fp64(step->call->op->op) || nd4c_cl_fp64_usable(device, step->reason, step->reason_size)) &&
                nd4c_cl_dtype_usable(device, y->dtype, step->reason, step->reason_size);
  return usable ? nd4c_cl_step_walk_all(step, &walk, y) : ND4C_UNSUPPORTED;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  return nd4c_cl_step_dry(call, check, reason, reason_size);
}

static nd4c_status launch_job(const nd4c_call *call, const job *j) {
  const nd4c_tensor *y = &call->outputs[0];
  const nd4c_cl_step step = {.call = call};
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(&step, &walk, y));
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

static nd4c_status number(const nd4c_call *call, int64_t number) {
  const job j = {.function = "number", .count = call->outputs[0].size, .whole = {number}};
  return launch_job(call, &j);
}

static nd4c_status arange(const nd4c_call *call) {
  const nd4c_attr_value *attrs = call->attrs;
  const job j = {.function = "arange",
                 .count = call->outputs[0].size,
                 .numbers = {attrs[ND4C_ATTR_arange_start].as.f, 0, attrs[ND4C_ATTR_arange_step].as.f}};
  return launch_job(call, &j);
}

static nd4c_status integer_range(const nd4c_call *call) {
  const nd4c_attr_value *attrs = call->attrs;
  const job j = {.function = "integer_range",
                 .count = call->outputs[0].size,
                 .whole = {attrs[ND4C_ATTR_integer_range_start].as.i, attrs[ND4C_ATTR_integer_range_step].as.i}};
  return launch_job(call, &j);
}

/* The gap is kept in two doubles, because the rounding error of one would be multiplied by the element's number. */
static nd4c_status spaced(const nd4c_call *call) {
  nd4c_dtype dtype = call->outputs[0].dtype;
  const nd4c_spacing s = nd4c_spacing_of(call);
  double gap = s.stop - s.start, part = gap - s.stop, rest = (s.stop - (gap - part)) - (s.start + part);
  const job j = {.function = s.is_power ? "logspace" : "linspace",
                 .wide = s.is_power,
                 .round_down = dtype >= ND4C_INT8 && dtype <= ND4C_UINT64,
                 .count = call->outputs[0].size,
                 .numbers = {s.start, s.stop, s.base, gap, isfinite(gap) ? rest : 0},
                 .whole = {s.steps}};
  return launch_job(call, &j);
}

static nd4c_status band(const nd4c_call *call, int64_t lower, int64_t upper) {
  const nd4c_tensor *y = &call->outputs[0];
  const job j = {.function = "band", .count = y->size, .whole = {lower, upper}, .inner = y->shape[1]};
  return launch_job(call, &j);
}

/* One block an axis. */
static nd4c_status indices(const nd4c_call *call) {
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

static nd4c_status window(const nd4c_call *call) {
  const nd4c_cosines window = nd4c_cosines_of(call);
  const job j = {.function = "window",
                 .wide = true,
                 .count = call->outputs[0].size,
                 .numbers = {window.a[0], window.a[1], window.a[2]},
                 .whole = {window.n}};
  return launch_job(call, &j);
}

/* Numbers from `turn` on are less by n. */
static nd4c_status frequencies(const nd4c_call *call, int64_t turn) {
  int64_t n = ND4C_INT_OF(call, fftfreq_n);
  const job j = {.function = "frequency",
                 .count = call->outputs[0].size,
                 .numbers = {(double)n * ND4C_REAL_OF(call, fftfreq_d)},
                 .whole = {n, turn}};
  return launch_job(call, &j);
}

/* -- kernels --------------------------------------------------------------------------------------------- */

/* zeros_like and ones_like take arrays of any dtype to be like: they are not read. full is an element-wise copy. */
#define OPS(X)                                                           \
  X(zeros, number(call, 0))                                              \
  X(ones, number(call, 1))                                               \
  X(zeros_like, number(call, 0))                                         \
  X(ones_like, number(call, 1))                                          \
  X(arange, arange(call))                                                \
  X(integer_range, integer_range(call))                                  \
  X(linspace, spaced(call))                                              \
  X(logspace, spaced(call))                                              \
  X(eye, band(call, ND4C_INT_OF(call, eye_k), ND4C_INT_OF(call, eye_k))) \
  X(tri, band(call, INT64_MIN, ND4C_INT_OF(call, tri_k)))                \
  X(indices, indices(call))                                              \
  X(hann_window, window(call))                                           \
  X(hamming_window, window(call))                                        \
  X(blackman_window, window(call))                                       \
  X(fftfreq, frequencies(call, (ND4C_INT_OF(call, fftfreq_n) + 1) / 2))  \
  X(rfftfreq, frequencies(call, INT64_MAX))
#define DEFINE_KERNEL(op_name, what)                        \
  static nd4c_status op_name##_run(const nd4c_call *call) { \
    return what;                                            \
  }                                                         \
  ND4C_CL_KERNEL(op_name, ~(nd4c_dtype_set)0, usable, op_name##_run, NULL)
OPS(DEFINE_KERNEL)

const nd4c_kernel *const nd4c_cl_creation_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
