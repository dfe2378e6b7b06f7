/* Engine reference: arrays from numbers. */
#include "backends/cpu/support/moving.h"
#include "backends/reading.h"
#include "kernels/reference/indexing/arrangement.h"
#include "kernels/reference/indexing/parts.h"

static nd4c_status fill_number(const nd4c_call *call, uint64_t number) {
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  char element[16];
  nd4c_ref_number(y.dtype, number, element);
  nd4c_ref_fill(&y, element);
  return ND4C_OK;
}

static nd4c_status zeros_run(const nd4c_call *call) {
  return fill_number(call, 0);
}

static nd4c_status ones_run(const nd4c_call *call) {
  return fill_number(call, 1);
}

static nd4c_status full_run(const nd4c_call *call) {
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  nd4c_ref_fill(&y, call->inputs[call->input_count - 1].data); /* after the array to be like, if there is one */
  return ND4C_OK;
}

/* -- ranges: each worker computes its part from the numbers ------------------------------------------------------- */

enum { GRAIN = 4096 };

typedef struct range_args {
  nd4c_ref_tensor y;
  const nd4c_attr_value *attrs;
  nd4c_spacing spacing;
} range_args;

static nd4c_status run_range(const nd4c_call *call, nd4c_range_function range, range_args *args) {
  args->y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  args->attrs = call->attrs;
  nd4c_cpu_parallel(args->y.shape[0], GRAIN, call->width, range, args);
  return ND4C_OK;
}

static void arange_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const range_args *args = user;
  (void)worker;
  nd4c_ref_arange(&args->y, args->attrs[ND4C_ATTR_arange_start].as.f, args->attrs[ND4C_ATTR_arange_step].as.f, begin,
                  end);
}

static nd4c_status arange_run(const nd4c_call *call) {
  range_args args = {.attrs = NULL};
  return run_range(call, arange_range, &args);
}

static void integer_range_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const range_args *args = user;
  (void)worker;
  nd4c_ref_integer_range(&args->y, args->attrs[ND4C_ATTR_integer_range_start].as.i,
                         args->attrs[ND4C_ATTR_integer_range_step].as.i, begin, end);
}

static nd4c_status integer_range_run(const nd4c_call *call) {
  range_args args = {.attrs = NULL};
  return run_range(call, integer_range_range, &args);
}

static void spaced_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const range_args *args = user;
  (void)worker;
  nd4c_ref_spaced(&args->spacing, &args->y, begin, end);
}

static nd4c_status spaced_run(const nd4c_call *call) {
  range_args args = {.spacing = nd4c_spacing_of(call)};
  return run_range(call, spaced_range, &args);
}

/* -- matrices and grids -------------------------------------------------------------------------------------------- */

/* Ones, seen in y's shape, where lower <= column - row <= upper. */
static nd4c_status band_of_ones(const nd4c_call *call, int64_t lower, int64_t upper) {
  static const int64_t same[2];
  char element[16];
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[0]), ones = y;
  nd4c_ref_number(y.dtype, 1, element);
  ones.data = element;
  ones.strides = same;
  nd4c_ref_band(&ones, &y, lower, upper);
  return ND4C_OK;
}

static nd4c_status eye_run(const nd4c_call *call) {
  int64_t k = call->attrs[ND4C_ATTR_eye_k].as.i;
  return band_of_ones(call, k, k);
}

static nd4c_status tri_run(const nd4c_call *call) {
  return band_of_ones(call, INT64_MIN, call->attrs[ND4C_ATTR_tri_k].as.i);
}

static nd4c_status indices_run(const nd4c_call *call) {
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[0]);
  nd4c_ref_indices(&y);
  return ND4C_OK;
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define OPS(X)                    \
  X(full, full)                   \
  X(full_like, full)              \
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
  X(indices, indices)
#define DEFINE_KERNEL(op, run) ND4C_CPU_REFERENCE_KERNEL_IF(op, ND4C_CPU_MOVABLE, nd4c_cpu_reference_stored, run##_run),

const nd4c_kernel *const nd4c_cpu_reference_creation_kernels[] = {OPS(DEFINE_KERNEL) NULL};
