/* Engine reference: sums of products over named axes, of which matmul is one; linear, cross. dispatch/choice.c asks
 * these kernels last, after those of all other engines. */
#include "backends/cpu/support/contraction.h"
#include "kernels/reference/contraction/linear.h"

typedef struct product_args {
  nd4c_dtype wide;
  int64_t m, n, k;
  const char *a, *b;
  char *c;
} product_args;

/* Rows of all matrices of the batch, counted through. */
static void product_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const product_args *p = user;
  int64_t bytes = p->wide == ND4C_COMPLEX128 ? 16 : 8;
  (void)worker;
  while (begin < end) {
    int64_t index = begin / p->m, first = begin % p->m;
    int64_t last = first + (end - begin) < p->m ? first + (end - begin) : p->m;
    nd4c_wide_product(p->wide, first, last, p->n, p->k, p->a + index * p->m * p->k * bytes,
                      p->b + index * p->k * p->n * bytes, p->c + index * p->m * p->n * bytes);
    begin += last - first;
  }
}

static void product(const nd4c_contraction *contraction, int64_t batch, int64_t m, int64_t n, int64_t k, const void *a,
                    const void *b, void *c) {
  product_args args = {contraction->wide, m, n, k, a, b, c};
  nd4c_cpu_parallel(batch * m, nd4c_cpu_grain(n * k), contraction->labels.call->width, product_range, &args);
}

static nd4c_status contraction_run(const nd4c_call *call) {
  return nd4c_cpu_contraction_run(call, nd4c_wide_dtype(call->outputs[0].dtype), product);
}

/* -- linear ----------------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(linear_range, nd4c_ref_linear)

static nd4c_status linear_run(const nd4c_call *call) {
  nd4c_ref_linear_args args = {.x = nd4c_cpu_ref_input(call, ND4C_IN_linear_x),
                               .w = nd4c_cpu_ref_input(call, ND4C_IN_linear_w),
                               .bias = nd4c_cpu_ref_input(call, ND4C_IN_linear_bias),
                               .addend = nd4c_cpu_ref_input(call, ND4C_IN_linear_addend),
                               .y = nd4c_cpu_ref_output(call, 0),
                               .transpose_w = ND4C_FLAG_OF(call, linear_transpose_w),
                               .activation = ND4C_INT_OF(call, linear_activation)};
  return nd4c_cpu_reference_parallel(call, call->outputs[0].size, args.x.shape[args.x.rank - 1], linear_range, &args);
}

#define KERNEL(op) ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_NUMBERS, contraction_run),

/* -- cross ------------------------------------------------------------------------------------------------------ */

typedef struct cross_args {
  nd4c_ref_tensor tensors[3];       /* a, b, y */
  int64_t shape[ND4C_CPU_MAX_RANK]; /* y's, with 1 on the axis */
  int32_t rank, axis;
} cross_args;

static void cross_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const cross_args *c = user;
  const nd4c_ref_tensor *t = c->tensors;
  (void)worker;
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t offsets[3], steps[3];
    for (int32_t i = 0; i < 3; i++) {
      offsets[i] = nd4c_ref_offset(&t[i], c->rank, c->shape, flat);
      steps[i] = t[i].strides[c->axis - (c->rank - t[i].rank)];
    }
    nd4c_ref_cross(&t[0], &t[1], &t[2], offsets, steps);
  }
}

static nd4c_status cross_run(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  cross_args args = {
      .tensors = {nd4c_cpu_ref_input(call, 0), nd4c_cpu_ref_input(call, 1), nd4c_cpu_ref_output(call, 0)},
      .rank = y->rank,
      .axis = nd4c_axis(ND4C_INT_OF(call, cross_axis), y->rank)};
  for (int32_t axis = 0; axis < y->rank; axis++) {
    args.shape[axis] = axis == args.axis ? 1 : y->shape[axis];
  }
  return nd4c_cpu_reference_parallel(call, nd4c_ref_extent(y->rank, args.shape), 8, cross_range, &args);
}

const nd4c_kernel *const nd4c_cpu_reference_contraction_kernels[] = {
    ND4C_LABELLED_OPS(KERNEL) KERNEL(matmul) ND4C_CPU_REFERENCE_KERNEL(linear, ND4C_CPU_FLOATS, linear_run),
    ND4C_CPU_REFERENCE_KERNEL(cross, ND4C_CPU_NUMBERS, cross_run), NULL};
