/* Engine reference: arrays from numbers (full, arange, eye, ...). dispatch/choice.c asks these kernels last, after
 * those of all other engines. */
#include "backends/cpu/support/moving.h"
#include "backends/reading.h"
#include "kernels/reference/indexing/arrangement.h"
#include "kernels/reference/indexing/parts.h"

static nd4c_status fill_number(const nd4c_call *call, uint64_t number) {
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0);
  char element[16];
  nd4c_ref_number(y.dtype, number, element);
  nd4c_ref_fill(&y, element);
  return ND4C_OK;
}

static nd4c_status fill_given(const nd4c_call *call) {
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0);
  nd4c_ref_fill(&y, call->inputs[call->input_count - 1].data); /* the last input; full_like has the array before it */
  return ND4C_OK;
}

/* -- ranges: each worker computes its part from the numbers ------------------------------------------------------- */

enum { GRAIN = 1 << 15 };

ND4C_CPU_RANGE(arange_range, nd4c_ref_arange)
ND4C_CPU_RANGE(integer_range_range, nd4c_ref_integer_range)
ND4C_CPU_RANGE(spaced_range, nd4c_ref_spaced)

static nd4c_status run_range(const nd4c_call *call, nd4c_range_function range, nd4c_ref_range args) {
  args.y = nd4c_cpu_ref_output(call, 0);
  nd4c_cpu_parallel(args.y.shape[0], GRAIN, call->width, range, &args);
  return ND4C_OK;
}

/* -- matrices and grids -------------------------------------------------------------------------------------------- */

/* Ones, seen in y's shape, where lower <= column - row <= upper. */
static nd4c_status band_of_ones(const nd4c_call *call, int64_t lower, int64_t upper) {
  static const int64_t same[2];
  char element[16];
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0), ones = y;
  nd4c_ref_number(y.dtype, 1, element);
  ones.data = element;
  ones.strides = same;
  nd4c_ref_band(&ones, &y, lower, upper);
  return ND4C_OK;
}

static nd4c_status indices_run(const nd4c_call *call) {
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, 0);
  nd4c_ref_indices(&y);
  return ND4C_OK;
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define M ND4C_CPU_MOVABLE
#define OPS(X)                                                                                                       \
  X(full, M, fill_given(call))                                                                                       \
  X(full_like, M, fill_given(call))                                                                                  \
  X(zeros, M, fill_number(call, 0))                                                                                  \
  X(zeros_like, M, fill_number(call, 0))                                                                             \
  X(ones, M, fill_number(call, 1))                                                                                   \
  X(ones_like, M, fill_number(call, 1))                                                                              \
  X(arange, M,                                                                                                       \
    run_range(call, arange_range,                                                                                    \
              (nd4c_ref_range){.start = ND4C_REAL_OF(call, arange_start), .step = ND4C_REAL_OF(call, arange_step)})) \
  X(integer_range, M,                                                                                                \
    run_range(call, integer_range_range,                                                                             \
              (nd4c_ref_range){.first = ND4C_INT_OF(call, integer_range_start),                                      \
                               .stride = ND4C_INT_OF(call, integer_range_step)}))                                    \
  X(linspace, M, run_range(call, spaced_range, (nd4c_ref_range){.spacing = nd4c_spacing_of(call)}))                  \
  X(logspace, M, run_range(call, spaced_range, (nd4c_ref_range){.spacing = nd4c_spacing_of(call)}))                  \
  X(eye, M, band_of_ones(call, ND4C_INT_OF(call, eye_k), ND4C_INT_OF(call, eye_k)))                                  \
  X(tri, M, band_of_ones(call, INT64_MIN, ND4C_INT_OF(call, tri_k)))
OPS(ND4C_CPU_REFERENCE_RUN)

const nd4c_kernel *const nd4c_cpu_reference_creation_kernels[] = {OPS(ND4C_CPU_REFERENCE_STORED)
                                                                      ND4C_CPU_REFERENCE_STORED(indices, M) NULL};
