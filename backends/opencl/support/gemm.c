/* Launches of gemm.cl. contraction_matmul.c, contraction.c and attention.c call it if gemm.h says that tiles pay. */
#include "backends/opencl/support/gemm.h"

#include <string.h>

#include "backends/opencl/support/reduction.h"

/* Of the tiles by vectors: extents, and local memory that they fit in. */
enum { DEEP = 16, DOWN = 64, ACROSS = 32, VECTORS_BYTES = 32768 };

bool nd4c_cl_gemm_pays(int64_t m, int64_t n, int64_t k) {
  return m >= 8 && n >= 8 && k >= 4;
}

static int64_t magnitude(int64_t stride) {
  return stride < 0 ? -stride : stride;
}

/* Floats of up to 32 bits are summed in float, as the libraries do. */
static const char *sum_type(const nd4c_cl_gemm *gemm) {
  nd4c_dtype y = gemm->y->dtype;
  return y == ND4C_FLOAT64     ? "double"
         : nd4c_cl_is_float(y) ? "float"
         : gemm->epilogue      ? "COMPUTE(Y)"
                               : nd4c_cl_wrapping(y, "COMPUTE(Y)");
}

int64_t nd4c_cl_gemm_side(const nd4c_call *call, int64_t bytes) {
  const nd4c_cl_limits *limits = nd4c_cl_device_limits(call->device);
  int64_t side = 16;
  while (side > 1 && (side * side > limits->group_size || 2 * DEEP * (4 * side + 1) * bytes > limits->local_bytes)) {
    side /= 2;
  }
  return side;
}

bool nd4c_cl_gemm_by_vectors(const nd4c_call *call, const nd4c_cl_gemm *gemm) {
  const nd4c_cl_limits *limits = nd4c_cl_device_limits(call->device);
  return limits->is_cpu && limits->local_bytes >= VECTORS_BYTES && gemm->sum == NULL &&
         strcmp(sum_type(gemm), "float") == 0;
}

static nd4c_cl_options options_of(const nd4c_call *call, const nd4c_cl_gemm *gemm, int64_t side) {
  nd4c_cl_options options = {{0}};
  const nd4c_cl_matrices *s = &gemm->matrices;
  ND4C_CL_TYPES(&options, "ABY", gemm->a->dtype, gemm->b->dtype, gemm->y->dtype);
  nd4c_cl_define(&options, "ACC", "%s", gemm->sum != NULL ? gemm->sum : sum_type(gemm));
  if (side > 0) {
    nd4c_cl_define(&options, "SIDE", "%d", (int)side);
    nd4c_cl_define_if(&options, magnitude(s->a_row) < magnitude(s->a_column), "A_TALL");
    nd4c_cl_define_if(&options, magnitude(s->b_row) < magnitude(s->b_column), "B_TALL");
  } else {
    nd4c_cl_define(&options, "DOWN", "%d", (int)DOWN);
    nd4c_cl_define(&options, "ACROSS", "%d", (int)ACROSS);
  }
  if (gemm->epilogue) {
    ND4C_CL_TYPES(&options, "CD", nd4c_cl_dtype_of(gemm->bias, gemm->y->dtype),
                  nd4c_cl_dtype_of(gemm->addend, gemm->y->dtype));
    nd4c_cl_define_real(&options, call);
    nd4c_cl_define(&options, "EPILOGUE", "1");
    nd4c_cl_define(&options, "ACTIVATION", "%d", (int)gemm->activation);
  }
  nd4c_cl_define_index(&options, call);
  return options;
}

/* Begins a launch with the largest side that the kernel takes itself; side 0: by vectors. */
static nd4c_status begin(const nd4c_call *call, const nd4c_cl_gemm *gemm, int64_t *side, nd4c_cl_launch *launch) {
  nd4c_dtype y = gemm->y->dtype;
  bool wide = gemm->sum != NULL || y == ND4C_FLOAT64 || y == ND4C_INT64 || y == ND4C_UINT64;
  for (*side = nd4c_cl_gemm_by_vectors(call, gemm) ? 0 : nd4c_cl_gemm_side(call, wide ? 8 : 4);; *side /= 2) {
    nd4c_cl_options options = options_of(call, gemm, *side);
    ND4C_BACKEND_TRY(nd4c_cl_begin(launch, call, gemm->epilogue ? "activate+gemm" : "gemm", "gemm", &options));
    if (nd4c_cl_kernel_fit(launch->kernel, *side * *side) == *side * *side) {
      return ND4C_OK;
    }
  }
}

nd4c_status nd4c_cl_gemm_run(const nd4c_cl_step *step, const nd4c_cl_gemm *gemm) {
  const nd4c_cl_matrices *s = &gemm->matrices;
  nd4c_cl_launch launch;
  int64_t side = 0;
  if (nd4c_cl_is_dry(step) || gemm->batch.size * s->m * s->n == 0) {
    return nd4c_cl_is_dry(step) ? nd4c_cl_step_call(step) : ND4C_OK;
  }
  ND4C_BACKEND_TRY(begin(step->call, gemm, &side, &launch));
  /* All groups along one dimension: the others may end at 65535. */
  int64_t across = side > 0 ? 4 * side : ACROSS, down = side > 0 ? 4 * side : DOWN, group = side > 0 ? side * side : 1;
  int64_t global = (s->n + across - 1) / across * ((s->m + down - 1) / down) * gemm->batch.size * group;
  ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(gemm->batch), ND4C_CL_VALUE(*s), ND4C_CL_IN(gemm->a), ND4C_CL_IN(gemm->b),
               ND4C_CL_OUT(gemm->y));
  if (gemm->epilogue) {
    ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(gemm->more), ND4C_CL_IN(gemm->bias), ND4C_CL_IN(gemm->addend),
                 ND4C_CL_INT(gemm->bias != NULL, gemm->addend != NULL));
  }
  return nd4c_cl_launch_run(&launch, 1, &global, &group);
}
