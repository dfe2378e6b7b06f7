/* Engine simd: cross, whose three components are lines of numbers, wherever the axis lies. Floats are multiplied as
 * doubles and rounded once, whole numbers wrap. dispatch/choice.c asks these kernels before the reference's. */
#include "backends/cpu/support/flat.h"

enum { PIECE = ND4C_FLAT_PIECE, COMPONENTS = 3, PIECES_GRAIN = 2 };

typedef struct cross_job {
  nd4c_simd_flat a[COMPONENTS], b[COMPONENTS], y[COMPONENTS];
  nd4c_binary_loop multiply, subtract;
  nd4c_cast_loop widen, narrow; /* NULL: numbers are computed in their dtype */
  int64_t count;                /* of vectors */
} cross_job;

typedef struct lines {
  _Alignas(64) char of[COMPONENTS][ND4C_FLAT_BYTES];
} lines;

/* The components of n vectors from `from` on, in the dtype that is computed. */
static void read_components(const cross_job *job, const nd4c_simd_flat *x, int64_t from, int64_t n, lines *made,
                            const char **at) {
  _Alignas(64) char buffer[ND4C_FLAT_BYTES];
  for (int32_t i = 0; i < COMPONENTS; i++) {
    at[i] = nd4c_simd_flat_read(&x[i], from, n, job->widen == NULL ? made->of[i] : buffer);
    if (job->widen != NULL) {
      job->widen(n, at[i], made->of[i]);
      at[i] = made->of[i];
    }
  }
}

static void cross_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const cross_job *job = user;
  lines u, v;
  _Alignas(64) char first[ND4C_FLAT_BYTES], second[ND4C_FLAT_BYTES], made[ND4C_FLAT_BYTES];
  (void)worker;
  for (int64_t from = begin * PIECE; from < end * PIECE && from < job->count; from += PIECE) {
    const int64_t n = job->count - from < PIECE ? job->count - from : PIECE;
    const char *a[COMPONENTS], *b[COMPONENTS];
    read_components(job, job->a, from, n, &u, a);
    read_components(job, job->b, from, n, &v, b);
    for (int32_t i = 0; i < COMPONENTS; i++) {
      const int32_t p = (i + 1) % COMPONENTS, q = (i + 2) % COMPONENTS;
      job->multiply(n, a[p], b[q], first);
      job->multiply(n, a[q], b[p], second);
      job->subtract(n, first, second, first);
      char *to = nd4c_simd_flat_place(&job->y[i], from, false, made);
      if (job->narrow != NULL) {
        job->narrow(n, first, to);
      } else {
        memcpy(to, first, (size_t)(n * job->y[i].bytes));
      }
      nd4c_simd_flat_write(&job->y[i], from, n, false, to);
    }
  }
}

/* A component of x along the axis, seen without it, over the shape `as`. */
static void take_component(const nd4c_tensor *x, int32_t axis, int64_t component, const nd4c_tensor *as,
                           nd4c_simd_flat *flat) {
  int64_t shape[ND4C_CPU_MAX_RANK];
  nd4c_tensor part = *x;
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = i == axis ? 1 : x->shape[i];
  }
  part.shape = shape;
  part.flags = 0;
  part.size = x->size / COMPONENTS;
  part.data = (char *)x->data + component * x->strides[axis] * nd4c_cpu_dtype_bytes(x->dtype);
  nd4c_simd_flat_make(flat, &part, as);
}

static nd4c_status run_cross(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  const int32_t axis = nd4c_axis(ND4C_INT_OF(call, cross_axis), y->rank);
  const bool wide = (ND4C_DTYPE_BIT(y->dtype) & ND4C_CPU_FLOATS) != 0 && y->dtype != ND4C_FLOAT64;
  const nd4c_dtype dtype = wide ? ND4C_FLOAT64 : y->dtype;
  cross_job job = {.multiply = nd4c_simd.binary->loops[ND4C_BINARY_multiply][dtype].both,
                   .subtract = nd4c_simd.binary->loops[ND4C_BINARY_subtract][dtype].both,
                   .widen = wide ? nd4c_simd.cast->loops[y->dtype][dtype] : NULL,
                   .narrow = wide ? nd4c_simd.cast->loops[dtype][y->dtype] : NULL,
                   .count = y->size / COMPONENTS};
  int64_t shape[ND4C_CPU_MAX_RANK];
  nd4c_tensor as = *y;
  if (y->size == 0) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < y->rank; i++) {
    shape[i] = i == axis ? 1 : y->shape[i];
  }
  as.shape = shape;
  as.size = job.count;
  for (int32_t i = 0; i < COMPONENTS; i++) {
    take_component(&call->inputs[0], axis - (y->rank - call->inputs[0].rank), i, &as, &job.a[i]);
    take_component(&call->inputs[1], axis - (y->rank - call->inputs[1].rank), i, &as, &job.b[i]);
    take_component(y, axis, i, &as, &job.y[i]);
  }
  nd4c_cpu_parallel(nd4c_cpu_divide_up(job.count, PIECE), PIECES_GRAIN, call->width, cross_range, &job);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != call->inputs[1].dtype, "operands of different dtypes");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_contraction_cross_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(cross, ND4C_CPU_REALS, usable, run_cross), NULL};
