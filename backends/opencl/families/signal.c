/* Sequences: convolution, and complex numbers as pairs of real ones. The backend has no Fourier transforms.
 * dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include <string.h>

#include "backends/opencl/support/ordering.h"
#include "backends/reading.h"

/* -- convolution --------------------------------------------------------------------------------------------------- */

/* A correlation takes b from its end. */
static nd4c_status slide(const nd4c_cl_step *step, bool correlation) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1], *y = &call->outputs[0];
  int64_t n = b->shape[0], b_step = correlation ? -b->strides[0] : b->strides[0];
  bool real = strcmp(nd4c_cl_kind(y->dtype), "FLOAT") == 0;
  if (nd4c_cl_is_dry(step)) {
    return real ? nd4c_cl_step_fp64(step) : nd4c_cl_step_call(step);
  }
  nd4c_cl_options options = {""};
  ND4C_CL_TYPES(&options, "ABY", a->dtype, b->dtype, y->dtype);
  nd4c_cl_define_if(&options, real, "IS_FLOAT");
  return ND4C_CL_RUN_ITEMS(call, "convert+convolve", "convolve", options, y->shape[0], ND4C_CL_IN(a),
                           ND4C_CL_LONG(a->strides[0], a->shape[0]),
                           ND4C_CL_IN_AT(b, correlation ? (n - 1) * b->strides[0] : 0), ND4C_CL_LONG(b_step, n),
                           ND4C_CL_OUT(y), ND4C_CL_LONG(y->strides[0], nd4c_convolve_shift(call)));
}

/* -- pairs --------------------------------------------------------------------------------------------------------- */

static bool is_complex(nd4c_dtype dtype) {
  return strcmp(nd4c_cl_kind(dtype), "COMPLEX") == 0;
}

/* A tensor of complex numbers as one of their parts, on one axis more; one of real numbers as it is, the axis being
 * their only part's. */
typedef struct parts {
  nd4c_tensor tensor;
  int64_t shape[ND4C_CL_MAX_RANK + 1], strides[ND4C_CL_MAX_RANK + 1];
} parts;

static void parts_of(const nd4c_tensor *x, nd4c_dtype dtype, parts *p) {
  int64_t factor = is_complex(x->dtype) ? 2 : 1;
  p->tensor = *x;
  for (int32_t i = 0; i < x->rank; i++) {
    p->shape[i] = x->shape[i];
    p->strides[i] = factor * x->strides[i];
  }
  p->shape[x->rank] = factor;
  p->strides[x->rank] = 1;
  p->tensor.dtype = dtype;
  p->tensor.rank = x->rank + 1;
  p->tensor.size = factor * x->size;
  p->tensor.offset = factor * x->offset;
  p->tensor.shape = p->shape;
  p->tensor.strides = p->strides;
}

static nd4c_status view_as_real(const nd4c_cl_step *step) {
  const nd4c_tensor *x = &step->call->inputs[0], *y = &step->call->outputs[0];
  parts from, rest;
  parts_of(x, y->dtype, &from);
  if (is_complex(x->dtype)) {
    return nd4c_cl_move(step, y->rank, y->shape, &from.tensor, 0, from.strides, y, 0, y->strides);
  }
  /* Parts of real numbers: themselves, and zeros beside them. */
  ND4C_BACKEND_TRY(nd4c_cl_move(step, y->rank, from.shape, &from.tensor, 0, from.strides, y, 0, y->strides));
  rest.tensor = *y;
  memcpy(rest.shape, from.shape, sizeof rest.shape);
  rest.tensor.shape = rest.shape;
  rest.tensor.size = x->size;
  rest.tensor.offset += y->strides[y->rank - 1];
  return nd4c_cl_zero(step, &rest.tensor);
}

static nd4c_status view_as_complex(const nd4c_cl_step *step) {
  const nd4c_tensor *x = &step->call->inputs[0], *y = &step->call->outputs[0];
  if (x->dtype != ND4C_FLOAT32 && x->dtype != ND4C_FLOAT64) {
    return nd4c_cl_step_refuse(step, "parts of another dtype than the complex numbers'");
  }
  parts to;
  parts_of(y, x->dtype, &to);
  return nd4c_cl_move(step, x->rank, x->shape, x, 0, x->strides, &to.tensor, 0, to.strides);
}

ND4C_CL_STEP_KERNEL(convolve, ND4C_CL_ALL, slide(step, false), NULL)
ND4C_CL_STEP_KERNEL(correlate, ND4C_CL_ALL, slide(step, true), NULL)
ND4C_CL_STEP_KERNEL(view_as_complex, ND4C_CL_MOVABLE, view_as_complex(step), NULL)
ND4C_CL_STEP_KERNEL(view_as_real, ND4C_CL_MOVABLE, view_as_real(step), NULL)

const nd4c_kernel *const nd4c_cl_signal_kernels[] = {&opencl_convolve, &opencl_correlate, &opencl_view_as_complex,
                                                     &opencl_view_as_real, NULL};
