/* Quantisation element by element. The backend has no products of quantised numbers. dispatch/choice.c asks these
 * kernels for arrays on OpenCL devices. */
#include <math.h>
#include <string.h>

#include "backends/opencl/support/ordering.h"

typedef struct quantization {
  const char *function;
  nd4c_dtype precision;
  const nd4c_tensor *scale, *zero_point; /* low and high of fake_quantize; the second may be NULL */
  nd4c_cl_walk walk;
  int64_t shifts[ND4C_CL_WALKED]; /* of x, y, scale and zero_point, to the walk's first element */
  double first, last;
} quantization;

static nd4c_status launch_all(const nd4c_call *call, const quantization *q) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const nd4c_tensor *zero_point = q->zero_point != NULL ? q->zero_point : q->scale;
  nd4c_cl_options options = {""};
  nd4c_cl_define(&options, "OP", "op_%s", q->function);
  nd4c_cl_define(&options, "PRECISION", "%s", nd4c_cl_dtype_name(q->precision));
  ND4C_CL_TYPES(&options, "ABCY", x->dtype, q->scale->dtype, zero_point->dtype, y->dtype);
  nd4c_cl_define_index(&options, call);
  return ND4C_CL_RUN_ITEMS(call, "convert+quantize", "quantize_elements", options, q->walk.size,
                           ND4C_CL_IN_AT(x, q->shifts[0]), ND4C_CL_IN_AT(q->scale, q->shifts[2]),
                           ND4C_CL_IN_AT(zero_point, q->shifts[3]), ND4C_CL_INT(q->zero_point != NULL),
                           ND4C_CL_OUT_AT(y, q->shifts[1]), ND4C_CL_VALUE(q->walk), ND4C_CL_DOUBLE(q->first, q->last));
}

/* -- quantize_linear and dequantize_linear: inputs and the first attributes stand at the same places
 * ------------------- */

/* Two axes of the walk for each of x's, blocks and within them: x, y, scale, zero_point. */
typedef struct axes {
  int32_t rank;
  int64_t shape[2 * ND4C_CL_MAX_RANK], strides[ND4C_CL_WALKED][2 * ND4C_CL_MAX_RANK];
} axes;

static void add_axis(axes *a, int64_t extent, int64_t x, int64_t y, int64_t scale, int64_t zero_point) {
  a->shape[a->rank] = extent;
  a->strides[0][a->rank] = x;
  a->strides[1][a->rank] = y;
  a->strides[2][a->rank] = scale;
  a->strides[3][a->rank++] = zero_point;
}

/* Step of a parameter along axis i of x: by its own axes where there are blocks, else along the one axis. */
static int64_t step_of(const nd4c_tensor *parameter, bool blocks, int32_t axis, int32_t i) {
  if (parameter == NULL || parameter->size == 1 || (!blocks && i != axis)) {
    return 0;
  }
  return parameter->strides[blocks ? i : 0];
}

/* Elements of x along the axis that share a scale; 0: there is one scale, or one for each index. */
static int64_t block_of(const nd4c_call *call, const nd4c_tensor *scale, int32_t axis) {
  int64_t block = ND4C_INT_OF(call, quantize_linear_block_size);
  if (block == 0 || scale->size == 1) {
    return 0;
  }
  int64_t extent = call->inputs[0].shape[axis];
  return block < extent ? block : extent > 0 ? extent : 1;
}

/* Whole blocks, or (rest) what is left behind them. */
static nd4c_status walk_scales(const nd4c_cl_step *step, int32_t axis, int64_t block, bool rest, quantization *q) {
  const nd4c_tensor *x = &step->call->inputs[0], *y = &step->call->outputs[0];
  axes a = {.rank = 0};
  for (int32_t i = 0; i < x->rank; i++) {
    int64_t scale = step_of(q->scale, block > 0, axis, i), zero_point = step_of(q->zero_point, block > 0, axis, i);
    int64_t length = block > 0 && i == axis ? block : 1, whole = x->shape[i] / length;
    if (rest && i == axis) {
      const int64_t shifts[ND4C_CL_WALKED] = {whole * length * x->strides[i], whole * length * y->strides[i],
                                              whole * scale, whole * zero_point};
      memcpy(q->shifts, shifts, sizeof shifts);
      add_axis(&a, x->shape[i] % length, x->strides[i], y->strides[i], 0, 0);
    } else {
      add_axis(&a, whole, length * x->strides[i], length * y->strides[i], scale, zero_point);
      add_axis(&a, length, x->strides[i], y->strides[i], 0, 0);
    }
  }
  const int64_t *strides[ND4C_CL_WALKED] = {a.strides[0], a.strides[1], a.strides[2], a.strides[3]};
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &q->walk, a.rank, a.shape, ND4C_CL_WALKED, strides));
  return nd4c_cl_is_dry(step) ? nd4c_cl_step_fp64(step) : launch_all(step->call, q);
}

static nd4c_status by_scales(const nd4c_cl_step *step, const char *function, nd4c_dtype precision) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0];
  quantization q = {.function = function,
                    .precision = precision,
                    .scale = &call->inputs[ND4C_IN_quantize_linear_scale],
                    .zero_point = nd4c_cl_input(call, ND4C_IN_quantize_linear_zero_point)};
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, quantize_linear_axis), x->rank);
  int64_t block = block_of(call, q.scale, axis);
  ND4C_BACKEND_TRY(walk_scales(step, axis, block, false, &q));
  return block > 0 && x->shape[axis] % block != 0 ? walk_scales(step, axis, block, true, &q) : ND4C_OK;
}

/* The quotient's precision: as asked for, else the scale's; integers divide as float64. */
static nd4c_status quantize_linear(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  nd4c_dtype given = (nd4c_dtype)ND4C_INT_OF(call, quantize_linear_precision);
  nd4c_dtype dtype = given != ND4C_DTYPE_NONE ? given : call->inputs[ND4C_IN_quantize_linear_scale].dtype;
  return by_scales(step, "quantize", dtype == ND4C_INT32 ? ND4C_FLOAT64 : dtype);
}

static nd4c_status fake_quantize(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0];
  quantization q = {.function = "fake_quantize",
                    .precision = ND4C_FLOAT64,
                    .scale = &call->inputs[ND4C_IN_fake_quantize_low],
                    .zero_point = &call->inputs[ND4C_IN_fake_quantize_high],
                    .first = ND4C_FLAG_OF(call, fake_quantize_narrow_range) ? 1 : 0,
                    .last = ldexp(1, (int)ND4C_INT_OF(call, fake_quantize_bits)) - 1};
  const nd4c_tensor *const walked[] = {x, &call->outputs[0], q.scale, q.zero_point};
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_tensors(step, &q.walk, x->rank, x->shape, ND4C_CL_WALKED, walked));
  return nd4c_cl_is_dry(step) ? nd4c_cl_step_fp64(step) : launch_all(call, &q);
}

ND4C_CL_STEP_KERNEL(quantize_linear, ND4C_CL_ALL, quantize_linear(step), NULL)
ND4C_CL_STEP_KERNEL(dequantize_linear, ND4C_CL_ALL, by_scales(step, "dequantize", ND4C_FLOAT64), NULL)
ND4C_CL_STEP_KERNEL(fake_quantize, ND4C_CL_ALL, fake_quantize(step), NULL)

const nd4c_kernel *const nd4c_cl_quantization_kernels[] = {&opencl_quantize_linear, &opencl_dequantize_linear,
                                                           &opencl_fake_quantize, NULL};
