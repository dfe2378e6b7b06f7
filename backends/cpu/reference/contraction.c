/* Engine reference: sums of products over named axes; cross. */
#include "backends/cpu/support/contraction.h"

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

#define KERNEL(op) ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_NUMBERS, contraction_run),

/* -- cross ------------------------------------------------------------------------------------------------------ */

typedef struct cross_args {
  nd4c_ref_tensor tensors[3];            /* a, b, y */
  int64_t strides[3][ND4C_CPU_MAX_RANK]; /* by y's axes */
  int64_t shape[ND4C_CPU_MAX_RANK];      /* with 1 on the axis */
  int32_t rank, axis;
} cross_args;

static void cross_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const cross_args *c = user;
  int64_t steps[3] = {c->strides[0][c->axis], c->strides[1][c->axis], c->strides[2][c->axis]};
  (void)worker;
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t offsets[3] = {0}, rest = flat;
    for (int32_t axis = c->rank - 1; axis >= 0; axis--) {
      int64_t position = rest % c->shape[axis];
      rest /= c->shape[axis];
      for (int32_t i = 0; i < 3; i++) {
        offsets[i] += position * c->strides[i][axis];
      }
    }
    nd4c_ref_cross(&c->tensors[0], &c->tensors[1], &c->tensors[2], offsets, steps);
  }
}

static nd4c_status cross_run(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0], *operands[] = {&call->inputs[0], &call->inputs[1], y};
  cross_args args = {.rank = y->rank, .axis = nd4c_axis(call->attrs[ND4C_ATTR_cross_axis].as.i, y->rank)};
  int64_t vectors = 1;
  for (int32_t axis = 0; axis < y->rank; axis++) {
    args.shape[axis] = axis == args.axis ? 1 : y->shape[axis];
    vectors *= args.shape[axis];
  }
  for (int32_t i = 0; i < 3; i++) {
    args.tensors[i] = nd4c_cpu_ref_tensor(operands[i]);
    nd4c_cpu_broadcast_strides(operands[i], y, args.strides[i]);
  }
  nd4c_cpu_parallel(vectors, nd4c_cpu_grain(8), call->width, cross_range, &args);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_reference_contraction_kernels[] = {
    ND4C_LABELLED_OPS(KERNEL) KERNEL(matmul) ND4C_CPU_REFERENCE_KERNEL(cross, ND4C_CPU_NUMBERS, cross_run), NULL};
