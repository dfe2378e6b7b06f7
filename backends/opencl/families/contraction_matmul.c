/* matmul and linear: by tiles if both sides are long enough, else as sums of products by rows. dispatch/choice.c asks
 * these kernels after engine clblast. */
#include "backends/opencl/support/gemm.h"
#include "backends/opencl/support/reduction.h"

/* -- matmul -------------------------------------------------------------------------------------------------------- */

typedef struct product {
  int32_t batch_rank;
  int64_t strides[2][ND4C_CL_MAX_RANK]; /* of the batch: a, b */
  nd4c_cl_matrices matrices;
} product;

static product product_of(const nd4c_call *call) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1], *y = &call->outputs[0];
  bool vector_a = a->rank == 1, vector_b = b->rank == 1;
  product p = {.batch_rank = y->rank - !vector_a - !vector_b};
  p.matrices = (nd4c_cl_matrices){.m = vector_a ? 1 : a->shape[a->rank - 2],
                                  .n = vector_b ? 1 : b->shape[b->rank - 1],
                                  .k = a->shape[a->rank - 1],
                                  .a_row = vector_a ? 0 : a->strides[a->rank - 2],
                                  .a_column = a->strides[a->rank - 1],
                                  .b_row = b->strides[vector_b ? 0 : b->rank - 2],
                                  .b_column = vector_b ? 0 : b->strides[b->rank - 1],
                                  .y_row = vector_a ? 0 : y->strides[p.batch_rank],
                                  .y_column = vector_b ? 0 : y->strides[y->rank - 1]};
  nd4c_tensor batches[2] = {*a, *b};
  for (int i = 0; i < 2; i++) { /* but for the axes of the matrices */
    batches[i].rank = batches[i].rank > 2 ? batches[i].rank - 2 : 0;
    nd4c_cl_broadcast_strides(&batches[i], p.batch_rank, y->shape, p.strides[i]);
  }
  return p;
}

static void add_axis(nd4c_cl_reduction *r, int64_t extent, int64_t a, int64_t b, int64_t y, bool reduced) {
  r->shape[r->rank] = extent;
  r->a_strides[r->rank] = a;
  r->b_strides[r->rank] = b;
  r->y_strides[r->rank] = y;
  r->reduced[r->rank++] = reduced;
}

static nd4c_cl_reduction by_rows(const nd4c_call *call, const product *p) {
  const nd4c_cl_matrices *s = &p->matrices;
  nd4c_cl_reduction r = {
      .gather = "GATHER_product", .a = &call->inputs[0], .b = &call->inputs[1], .y = &call->outputs[0]};
  for (int32_t i = 0; i < p->batch_rank; i++) {
    add_axis(&r, r.y->shape[i], p->strides[0][i], p->strides[1][i], r.y->strides[i], false);
  }
  add_axis(&r, s->m, s->a_row, 0, s->y_row, false);
  add_axis(&r, s->n, 0, s->b_column, s->y_column, false);
  add_axis(&r, s->k, s->a_column, s->b_row, 0, true);
  return r;
}

static bool tiles(const product *p) {
  return nd4c_cl_gemm_pays(p->matrices.m, p->matrices.n, p->matrices.k);
}

nd4c_status nd4c_cl_matmul_plan(const nd4c_cl_step *step, nd4c_cl_gemm *gemm) {
  const nd4c_call *call = step->call;
  product p = product_of(call);
  const int64_t *const strides[] = {p.strides[0], p.strides[1], call->outputs[0].strides};
  *gemm = (nd4c_cl_gemm){.matrices = p.matrices, .a = &call->inputs[0], .b = &call->inputs[1], .y = &call->outputs[0]};
  return nd4c_cl_step_walk(step, &gemm->batch, p.batch_rank, call->outputs[0].shape, 3, strides);
}

static int64_t matmul_scratch(const nd4c_call *call) {
  product p = product_of(call);
  nd4c_cl_reduction r = by_rows(call, &p);
  return tiles(&p) ? 0 : nd4c_cl_reduction_scratch(call, &r);
}

static nd4c_status multiply(const nd4c_cl_step *step) {
  product p = product_of(step->call);
  nd4c_cl_reduction r = by_rows(step->call, &p);
  nd4c_cl_gemm gemm;
  if (!tiles(&p)) {
    return nd4c_cl_reduce(step, &r);
  }
  ND4C_BACKEND_TRY(nd4c_cl_matmul_plan(step, &gemm));
  return nd4c_cl_gemm_run(step, &gemm);
}

/* On processors it comes before libraries that are written for GPUs. */
static nd4c_status multiply_by_vectors(const nd4c_cl_step *step) {
  product p = product_of(step->call);
  nd4c_cl_gemm gemm;
  ND4C_BACKEND_TRY(nd4c_cl_matmul_plan(step, &gemm));
  return tiles(&p) && nd4c_cl_gemm_by_vectors(step->call, &gemm)
             ? nd4c_cl_gemm_run(step, &gemm)
             : nd4c_cl_step_refuse(step, "is for tiles of sums in float on a processor");
}

ND4C_CL_STEP(matmul_vectors, multiply_by_vectors(step))
static const nd4c_kernel opencl_matmul_vectors = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),
                                                  .op_version = 1,
                                                  .op = "matmul",
                                                  .engine = "opencl",
                                                  .name = "opencl.matmul.vectors",
                                                  .priority = 300,
                                                  .dtypes = ND4C_CL_FLOATS,
                                                  .usable = matmul_vectors_usable,
                                                  .run = matmul_vectors_run};

/* -- linear -------------------------------------------------------------------------------------------------------- */

/* Rows are all of y's axes but the last: the last of them that stay after merging is the matrices', the others the
 * batch. */
static nd4c_status linear(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[ND4C_IN_linear_x], *w = &call->inputs[ND4C_IN_linear_w], *y = &call->outputs[0];
  bool turned = ND4C_FLAG_OF(call, linear_transpose_w);
  const nd4c_tensor *bias = nd4c_cl_input(call, ND4C_IN_linear_bias);
  const nd4c_tensor *addend = nd4c_cl_input(call, ND4C_IN_linear_addend);
  int32_t rank = y->rank - 1;
  int64_t strides[3][ND4C_CL_MAX_RANK];
  const int64_t *const all[] = {strides[0], y->strides, strides[1], strides[2]};
  nd4c_tensor x_rows = *x;
  nd4c_cl_gemm gemm;
  nd4c_cl_walk rows;
  x_rows.rank = x->rank - 1;
  nd4c_cl_broadcast_strides(&x_rows, rank, y->shape, strides[0]);
  nd4c_cl_broadcast_strides(bias, y->rank, y->shape, strides[1]);
  nd4c_cl_broadcast_strides(addend, y->rank, y->shape, strides[2]);
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &rows, rank, y->shape, 4, all));
  int32_t last = rows.rank - 1;
  gemm = (nd4c_cl_gemm){.a = x,
                        .b = w,
                        .y = y,
                        .bias = bias,
                        .addend = addend,
                        .epilogue = true,
                        .activation = ND4C_INT_OF(call, linear_activation)};
  gemm.matrices = (nd4c_cl_matrices){.m = last >= 0 ? rows.shape[last] : 1,
                                     .n = y->shape[rank],
                                     .k = x->shape[x->rank - 1],
                                     .a_column = x->strides[x->rank - 1],
                                     .b_row = w->strides[turned ? 1 : 0],
                                     .b_column = w->strides[turned ? 0 : 1],
                                     .y_column = y->strides[rank],
                                     .bias_column = strides[1][rank],
                                     .addend_column = strides[2][rank]};
  if (last >= 0) {
    gemm.matrices.a_row = rows.strides[0][last];
    gemm.matrices.y_row = rows.strides[1][last];
    gemm.matrices.bias_row = rows.strides[2][last];
    gemm.matrices.addend_row = rows.strides[3][last];
  }
  const int64_t none[ND4C_CL_RANK] = {0};
  const int64_t *const batch[] = {rows.strides[0], none, rows.strides[1]};
  const int64_t *const more[] = {rows.strides[2], rows.strides[3]};
  int32_t left = last >= 0 ? last : 0;
  /* Not merged again: both walks count the same places. */
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &gemm.batch, left, rows.shape, 3, batch));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &gemm.more, left, rows.shape, 2, more));
  return nd4c_cl_gemm_run(step, &gemm);
}

ND4C_CL_STEP_KERNEL(matmul, ND4C_CL_REALS, multiply(step), matmul_scratch)
ND4C_CL_STEP_KERNEL(linear, ND4C_CL_FLOATS, linear(step), NULL)

const nd4c_kernel *const nd4c_cl_contraction_matmul_kernels[] = {&opencl_matmul_vectors, &opencl_matmul, &opencl_linear,
                                                                 NULL};
