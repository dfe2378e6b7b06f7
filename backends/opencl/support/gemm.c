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

static int64_t side_of(const nd4c_call *call, const nd4c_cl_gemm *gemm) {
  const nd4c_cl_limits *limits = nd4c_cl_device_limits(call->device);
  nd4c_dtype y = gemm->y->dtype;
  int64_t bytes = gemm->sum != NULL || y == ND4C_FLOAT64 || y == ND4C_INT64 || y == ND4C_UINT64 ? 8 : 4;
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
    if (magnitude(s->a_row) < magnitude(s->a_column)) {
      nd4c_cl_define(&options, "A_TALL", "1");
    }
    if (magnitude(s->b_row) < magnitude(s->b_column)) {
      nd4c_cl_define(&options, "B_TALL", "1");
    }
  } else {
    nd4c_cl_define(&options, "DOWN", "%d", (int)DOWN);
    nd4c_cl_define(&options, "ACROSS", "%d", (int)ACROSS);
  }
  if (gemm->epilogue) {
    ND4C_CL_TYPES(&options, "CD", gemm->bias != NULL ? gemm->bias->dtype : gemm->y->dtype,
                  gemm->addend != NULL ? gemm->addend->dtype : gemm->y->dtype);
    nd4c_cl_define_real(&options, call);
    nd4c_cl_define(&options, "EPILOGUE", "1");
    nd4c_cl_define(&options, "ACTIVATION", "%d", (int)gemm->activation);
  }
  nd4c_cl_define_index(&options, call);
  return options;
}

/* The kernel of the largest side that it takes itself; side 0: by vectors. */
static nd4c_status kernel_of(const nd4c_call *call, const nd4c_cl_gemm *gemm, int64_t *side, nd4c_cl_kernel **kernel) {
  for (*side = nd4c_cl_gemm_by_vectors(call, gemm) ? 0 : side_of(call, gemm);; *side /= 2) {
    nd4c_cl_options options = options_of(call, gemm, *side);
    nd4c_status status =
        nd4c_cl_kernel_get(call->device, gemm->epilogue ? "activate+gemm" : "gemm", "gemm", &options, kernel);
    if (status != ND4C_OK || *side <= 1 || *side * *side <= nd4c_cl_kernel_group_size(*kernel)) {
      return status;
    }
  }
}

nd4c_status nd4c_cl_gemm_run(const nd4c_call *call, const nd4c_cl_gemm *gemm) {
  nd4c_cl_kernel *kernel;
  nd4c_cl_launch launch;
  int64_t side = 0;
  ND4C_BACKEND_TRY(kernel_of(call, gemm, &side, &kernel));
  /* All groups along one dimension: the others may end at 65535. */
  int64_t across = side > 0 ? 4 * side : ACROSS, down = side > 0 ? 4 * side : DOWN, group = side > 0 ? side * side : 1;
  int64_t global =
      (gemm->matrices.n + across - 1) / across * ((gemm->matrices.m + down - 1) / down) * gemm->batch.size * group;
  nd4c_cl_launch_begin(&launch, call, kernel);
  ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(gemm->batch), ND4C_CL_VALUE(gemm->matrices), ND4C_CL_IN(gemm->a),
               ND4C_CL_IN(gemm->b), ND4C_CL_OUT(gemm->y));
  if (gemm->epilogue) {
    ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(gemm->more), ND4C_CL_IN(gemm->bias), ND4C_CL_IN(gemm->addend),
                 ND4C_CL_INT(gemm->bias != NULL, gemm->addend != NULL));
  }
  return nd4c_cl_launch_run(&launch, 1, &global, &group);
}
