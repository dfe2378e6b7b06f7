/* matmul and linear of engine simd in bfloat16 and float16, for few rows: the weights are read once, sums are kept in
 * f32 and rounded once. Others would pack or widen the weights first, which takes longer than the product;
 * dispatch/choice.c asks these kernels before oneDNN's. */
#include <string.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/contraction_product.h"

/* Up to so many rows this was faster than oneDNN; and where b would be widened in each call otherwise. Elements of b
 * that are worth another thread; elements of an addend that are widened at once. */
enum { FEW_ROWS = 4, MORE_ROWS = 16, GRAIN = 1 << 16, PIECE = 64 };

typedef struct job {
  nd4c_cpu_product p;
  bool dots; /* b lies by columns */
  nd4c_cast_loop widen, narrow;
  const nd4c_thin_loops *thin;
  float *a, *y;
  nd4c_unary_loop activate;
} job;

static nd4c_dtype dtype_of(const nd4c_call *call) {
  return call->inputs[0].dtype;
}

static bool is_constant(const nd4c_cpu_product *p) {
  return (p->b.tensor->flags & ND4C_TENSOR_CONSTANT) != 0;
}

/* A plan has constant weights in f32, unless rows are so few that reading them takes the time. */
static int64_t most_rows(const nd4c_call *call, const nd4c_cpu_product *p) {
  const bool widens = dtype_of(call) == ND4C_FLOAT16 || nd4c_simd_widens_bfloat16;
  return widens && !is_constant(p) ? MORE_ROWS : FEW_ROWS;
}

/* The product to compute: that of the transposes if b has the few columns. */
static const char *read_product(const nd4c_call *call, job *j) {
  nd4c_cpu_product *p = &j->p;
  const char *why = nd4c_cpu_product_read(call, p);
  if (why != NULL) {
    return why;
  }
  if (call->op->op == ND4C_OP_matmul && p->n < p->m) {
    nd4c_cpu_product_turn(p);
  }
  int32_t row = p->rank - 2, column = p->rank - 1;
  j->dots = p->b.strides[row] == 1;
  if (p->batch != 1 || p->m > most_rows(call, p)) {
    return "a batch, or more than a few rows";
  }
  if ((!j->dots && p->b.strides[column] != 1) || (p->n > 1 && p->y.strides[column] != 1)) {
    return "neither rows nor columns lie without gaps";
  }
  return NULL;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  job j;
  const char *why = read_product(call, &j);
  if (why == NULL && !nd4c_simd_level_is("avx512") && !nd4c_simd_level_is("avx2")) {
    why = "without AVX2 16-bit floats are widened element by element";
  }
  if (why == NULL && dtype_of(call) == ND4C_BFLOAT16 && is_constant(&j.p) && !nd4c_simd_widens_bfloat16) {
    why = "the right-hand side is constant: oneDNN packs it once";
  }
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

static int64_t scratch_bytes(const nd4c_call *call) {
  job j;
  read_product(call, &j);
  return j.p.m * (j.p.k + j.p.n) * (int64_t)sizeof(float);
}

/* Elements [begin, end) of row r of x, in f32. */
static void widen_row(const job *j, const nd4c_cpu_matrices *x, int64_t r, int64_t begin, int64_t end, float *to) {
  const int32_t row = j->p.rank - 2, column = row + 1;
  const int64_t step = x->strides[column], n = end - begin;
  const uint16_t *from = (const uint16_t *)x->tensor->data + r * x->strides[row] + begin * step;
  for (int64_t i = 0; i < n && step != 1; i++) {
    j->widen(1, from + i * step, to + i);
  }
  if (step == 1) {
    j->widen(n, from, to);
  }
}

/* Adds to sums elements [begin, end) of row r of the addend. */
static void add_row(const job *j, int64_t r, int64_t begin, int64_t end, float *sums) {
  float wide[PIECE];
  for (int64_t at = begin; at < end; at += PIECE) {
    const int64_t n = end - at < PIECE ? end - at : PIECE;
    widen_row(j, &j->p.addend, r, at, at + n, wide);
    for (int64_t i = 0; i < n; i++) {
      sums[at - begin + i] += wide[i];
    }
  }
}

/* Puts what is added to the product into the sums of columns [begin, end); false: nothing is. */
static bool start(const job *j, int64_t begin, int64_t end) {
  const nd4c_cpu_product *p = &j->p;
  const bool biased = p->bias != NULL, added = p->addend.tensor != NULL;
  for (int64_t r = 0; r < p->m && (biased || added); r++) {
    float *sums = j->y + r * p->n + begin;
    if (biased) {
      j->widen(end - begin, (const uint16_t *)p->bias->data + begin, sums);
    } else {
      memset(sums, 0, (size_t)(end - begin) * sizeof *sums);
    }
    if (added) {
      add_row(j, r, begin, end, sums);
    }
  }
  return biased || added;
}

static void column_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_cpu_product *p = &j->p;
  int32_t row = p->rank - 2, column = row + 1;
  int64_t n = end - begin;
  const nd4c_unary_parameters parameters = nd4c_cpu_activation_parameters(j->p.activation, ND4C_FLOAT32);
  (void)worker;
  const bool adds = start(j, begin, end);
  nd4c_gemm_matrix a = {.data = (char *)j->a, .row_stride = p->k, .column_stride = 1};
  nd4c_gemm_matrix b = {.row_stride = p->b.strides[row], .column_stride = p->b.strides[column]};
  nd4c_gemm_matrix y = {.data = (char *)(j->y + begin), .row_stride = p->n, .column_stride = 1};
  b.data = (char *)p->b.tensor->data + begin * b.column_stride * (int64_t)sizeof(uint16_t);
  (j->dots ? j->thin->dots : j->thin->rows)(p->m, n, p->k, a, b, y, adds);
  for (int64_t r = 0; r < p->m; r++) {
    float *sums = j->y + r * p->n + begin;
    if (j->activate != NULL) {
      j->activate(n, sums, sums, &parameters);
    }
    j->narrow(n, sums, (uint16_t *)p->y.tensor->data + r * p->y.strides[row] + begin);
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j;
  read_product(call, &j); /* usable has seen that it can be read */
  j.a = call->scratch;
  j.y = j.a + j.p.m * j.p.k;
  j.widen = nd4c_simd.cast->loops[dtype_of(call)][ND4C_FLOAT32];
  j.narrow = nd4c_simd.cast->loops[ND4C_FLOAT32][dtype_of(call)];
  j.thin = dtype_of(call) == ND4C_BFLOAT16 ? nd4c_simd.gemm->thin_bfloat16 : nd4c_simd.gemm->thin_float16;
  j.activate = nd4c_cpu_activation_loop(j.p.activation, ND4C_FLOAT32);
  for (int64_t r = 0; r < j.p.m; r++) {
    widen_row(&j, &j.p.a, r, 0, j.p.k, j.a + r * j.p.k);
  }
  nd4c_cpu_parallel(j.p.n, GRAIN / j.p.k + 1, call->width, column_range, &j);
  return ND4C_OK;
}

#define KERNEL(op, name, dtype, ...)                                                                               \
  ND4C_CPU_KERNEL("simd", op, name, ND4C_CPU_PRIORITY_ONEDNN + 2, ND4C_CPU_FLOATS & ND4C_DTYPE_BIT(dtype), usable, \
                  run, .scratch_bytes = scratch_bytes, __VA_ARGS__)
/* A plan computes float16 in float32, in which sums between nodes are not rounded. */
#define BFLOAT16(op) KERNEL(op, "narrow_" #op, ND4C_BFLOAT16, .flags = 0)
#define FLOAT16(op) KERNEL(op, "narrow_float16_" #op, ND4C_FLOAT16, .flags = ND4C_KERNEL_CONVERTS)

const nd4c_kernel *const nd4c_cpu_simd_contraction_narrow_kernels[] = {BFLOAT16(matmul), BFLOAT16(linear),
                                                                       FLOAT16(matmul), FLOAT16(linear), NULL};
