/* matmul and linear: by tiles if both sides are long enough, else as sums of products by rows. dispatch/choice.c asks
 * these kernels after engine clblast. */
#include <stdio.h>

#include "backends/opencl/support/gemm.h"
#include "backends/opencl/support/reduction.h"

/* Strides of an operand by the last `rank` axes of a shape that it is broadcast to. */
static void broadcast_strides(const nd4c_tensor *tensor, int32_t own, int32_t rank, const int64_t *shape,
                              int64_t *strides) {
  for (int32_t axis = 0; axis < rank; axis++) {
    int32_t place = axis - (rank - own);
    strides[axis] = tensor == NULL || place < 0 || tensor->shape[place] != shape[axis] ? 0 : tensor->strides[place];
  }
}

/* -- matmul -------------------------------------------------------------------------------------------------------- */

typedef struct product {
  int32_t batch_rank;
  int64_t strides[3][ND4C_CL_MAX_RANK]; /* of the batch: a, b, y */
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
  broadcast_strides(a, a->rank > 2 ? a->rank - 2 : 0, p.batch_rank, y->shape, p.strides[0]);
  broadcast_strides(b, b->rank > 2 ? b->rank - 2 : 0, p.batch_rank, y->shape, p.strides[1]);
  broadcast_strides(y, p.batch_rank, p.batch_rank, y->shape, p.strides[2]);
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
    add_axis(&r, call->outputs[0].shape[i], p->strides[0][i], p->strides[1][i], p->strides[2][i], false);
  }
  add_axis(&r, s->m, s->a_row, 0, s->y_row, false);
  add_axis(&r, s->n, 0, s->b_column, s->y_column, false);
  add_axis(&r, s->k, s->a_column, s->b_row, 0, true);
  return r;
}

static bool tiles(const product *p) {
  return nd4c_cl_gemm_pays(p->matrices.m, p->matrices.n, p->matrices.k);
}

bool nd4c_cl_matmul_plan(const nd4c_call *call, nd4c_cl_gemm *gemm, char *reason, size_t reason_size) {
  product p = product_of(call);
  const int64_t *const strides[] = {p.strides[0], p.strides[1], p.strides[2]};
  *gemm = (nd4c_cl_gemm){.matrices = p.matrices, .a = &call->inputs[0], .b = &call->inputs[1], .y = &call->outputs[0]};
  return nd4c_cl_walk_strides(&gemm->batch, p.batch_rank, call->outputs[0].shape, 3, strides, reason, reason_size);
}

static bool matmul_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  if (!nd4c_cl_call_usable(call, reason, reason_size)) {
    return false;
  }
  product p = product_of(call);
  nd4c_cl_reduction r = by_rows(call, &p);
  nd4c_cl_gemm gemm;
  return tiles(&p) ? nd4c_cl_matmul_plan(call, &gemm, reason, reason_size)
                   : nd4c_cl_reduction_usable(&r, reason, reason_size);
}

static int64_t matmul_scratch(const nd4c_call *call) {
  product p = product_of(call);
  nd4c_cl_reduction r = by_rows(call, &p);
  return tiles(&p) ? 0 : nd4c_cl_reduction_scratch(call, &r);
}

static nd4c_status matmul_run(const nd4c_call *call) {
  product p = product_of(call);
  nd4c_cl_reduction r = by_rows(call, &p);
  char reason[128];
  if (!tiles(&p)) {
    return nd4c_cl_reduce(call, &r);
  }
  nd4c_cl_gemm gemm;
  if (!nd4c_cl_matmul_plan(call, &gemm, reason, sizeof reason)) {
    return nd4c_cl_host->fail(ND4C_INTERNAL, "matmul: %s", reason);
  }
  return nd4c_cl_gemm_run(call, &gemm);
}

/* On processors it comes before libraries that are written for GPUs. */
static bool matmul_vectors_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cl_gemm gemm;
  if (!matmul_usable(call, reason, reason_size)) {
    return false;
  }
  product p = product_of(call);
  if (tiles(&p) && nd4c_cl_matmul_plan(call, &gemm, reason, reason_size) && nd4c_cl_gemm_by_vectors(call, &gemm)) {
    return true;
  }
  (void)snprintf(reason, reason_size, "is for tiles of sums in float on a processor");
  return false;
}

static const nd4c_kernel opencl_matmul_vectors = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),
                                                  .op_version = 1,
                                                  .op = "matmul",
                                                  .engine = "opencl",
                                                  .name = "opencl.matmul.vectors",
                                                  .priority = 300,
                                                  .dtypes = ND4C_CL_FLOATS,
                                                  .usable = matmul_vectors_usable,
                                                  .run = matmul_run};

/* -- linear -------------------------------------------------------------------------------------------------------- */

/* Rows are all of y's axes but the last: the last of them that stay after merging is the matrices', the others the
 * batch. */
static bool linear_plan(const nd4c_call *call, nd4c_cl_gemm *gemm, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_linear_x], *w = &call->inputs[ND4C_IN_linear_w], *y = &call->outputs[0];
  bool turned = call->attrs[ND4C_ATTR_linear_transpose_w].as.i != 0;
  const nd4c_tensor *bias = nd4c_cl_input(call, ND4C_IN_linear_bias);
  const nd4c_tensor *addend = nd4c_cl_input(call, ND4C_IN_linear_addend);
  int32_t rank = y->rank - 1;
  int64_t strides[4][ND4C_CL_MAX_RANK];
  broadcast_strides(x, x->rank - 1, rank, y->shape, strides[0]);
  broadcast_strides(y, rank, rank, y->shape, strides[1]);
  broadcast_strides(bias, bias != NULL ? bias->rank : 0, y->rank, y->shape, strides[2]);
  broadcast_strides(addend, addend != NULL ? addend->rank : 0, y->rank, y->shape, strides[3]);
  const int64_t *const all[] = {strides[0], strides[1], strides[2], strides[3]};
  nd4c_cl_walk rows;
  if (!nd4c_cl_walk_strides(&rows, rank, y->shape, 4, all, reason, reason_size)) {
    return false;
  }
  int32_t last = rows.rank - 1;
  *gemm = (nd4c_cl_gemm){.a = x,
                         .b = w,
                         .y = y,
                         .bias = bias,
                         .addend = addend,
                         .epilogue = true,
                         .activation = call->attrs[ND4C_ATTR_linear_activation].as.i};
  gemm->matrices = (nd4c_cl_matrices){.m = last >= 0 ? rows.shape[last] : 1,
                                      .n = y->shape[rank],
                                      .k = x->shape[x->rank - 1],
                                      .a_column = x->strides[x->rank - 1],
                                      .b_row = w->strides[turned ? 1 : 0],
                                      .b_column = w->strides[turned ? 0 : 1],
                                      .y_column = y->strides[rank],
                                      .bias_column = strides[2][rank],
                                      .addend_column = strides[3][rank]};
  if (last >= 0) {
    gemm->matrices.a_row = rows.strides[0][last];
    gemm->matrices.y_row = rows.strides[1][last];
    gemm->matrices.bias_row = rows.strides[2][last];
    gemm->matrices.addend_row = rows.strides[3][last];
  }
  const int64_t none[ND4C_CL_RANK] = {0};
  const int64_t *const batch[] = {rows.strides[0], none, rows.strides[1]};
  const int64_t *const more[] = {rows.strides[2], rows.strides[3]};
  int32_t left = last >= 0 ? last : 0;
  /* Not merged again: both walks count the same places. */
  return nd4c_cl_walk_strides(&gemm->batch, left, rows.shape, 3, batch, reason, reason_size) &&
         nd4c_cl_walk_strides(&gemm->more, left, rows.shape, 2, more, reason, reason_size);
}

static bool linear_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cl_gemm gemm;
  return nd4c_cl_call_usable(call, reason, reason_size) && linear_plan(call, &gemm, reason, reason_size);
}

static nd4c_status linear_run(const nd4c_call *call) {
  nd4c_cl_gemm gemm;
  char reason[128];
  if (call->outputs[0].size == 0) {
    return ND4C_OK;
  }
  if (!linear_plan(call, &gemm, reason, sizeof reason)) {
    return nd4c_cl_host->fail(ND4C_INTERNAL, "linear: %s", reason);
  }
  return nd4c_cl_gemm_run(call, &gemm);
}

ND4C_CL_KERNEL(matmul, ND4C_CL_REALS, matmul_usable, matmul_run, matmul_scratch)
ND4C_CL_KERNEL(linear, ND4C_CL_FLOATS, linear_usable, linear_run, NULL)

const nd4c_kernel *const nd4c_cl_contraction_matmul_kernels[] = {&opencl_matmul_vectors, &opencl_matmul, &opencl_linear,
                                                                 NULL};
