/* matmul and linear of engine simd in f32 with CONSTANT right-hand sides, which are packed once into the strips that
 * the kernels of oneDNN read as well. Their sums are shorter than oneDNN's, which adds up all of k in one: its error is
 * two to four times as large. dispatch/choice.c asks these kernels before oneDNN's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/contraction_product.h"
#include "backends/cpu/support/contraction_strips.h"
#include "backends/cpu/support/packed_weights.h"

/* Fewer rows are a matter of reading b (simd/contraction/contraction.c), where oneDNN's kernels are faster with
 * AVX-512. With AVX2 oneDNN packs nothing, and all numbers of rows are computed here. BLOCK_ROWS and BLOCK_PANELS: of a
 * part at most, so that its sums and a piece of a stay in the L2 cache, which is smaller where AVX2 is the highest
 * level; a panel has the loops' strip_columns. SUMS_GAP: see sums_step. */
enum { LEAST_ROWS = 8, BLOCK_ROWS = 128, BLOCK_ROWS_AVX2 = 96, BLOCK_PANELS = 8, SUMS_GAP = 16 };

typedef struct job {
  nd4c_cpu_product p;
  const nd4c_gemm_loops *loops;
  nd4c_gemm_strips strips;
  nd4c_inner_activation inner; /* before sums leave the registers */
  nd4c_unary_loop activate;    /* NULL: none, or the inner one */
  char *sums;                  /* part_bytes for each worker */
  nd4c_unary_parameters parameters;
  int64_t block, row_parts;     /* block: rows of a part; the last part may have fewer */
  int64_t panels, column_parts; /* panels: of all columns */
} job;

static bool has_step(const nd4c_cpu_matrices *x, int32_t axis) {
  return x->shape[axis] == 1 || x->strides[axis] == 1;
}

static const char *refuse(const nd4c_call *call) {
  nd4c_cpu_product p;
  if ((call->inputs[1].flags & ND4C_TENSOR_CONSTANT) == 0) {
    return "the right-hand side is not constant";
  }
  if (!nd4c_simd_level_is("avx2") && !nd4c_simd_level_is("avx512")) {
    return "without AVX2 the libraries are faster";
  }
  const char *why = nd4c_cpu_product_read(call, &p);
  if (why != NULL) {
    return why;
  }
  const bool few = !nd4c_simd_level_is("avx2") && p.m < LEAST_ROWS;
  if (p.batch != 1 || few || p.m * p.n * p.k < ND4C_PRODUCT_SMALL) {
    return "a batch, few rows, or few multiplications";
  }
  return has_step(&p.a, p.rank - 1) && has_step(&p.y, p.rank - 1) ? NULL : "rows have gaps";
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse(call);
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

/* -- packing ------------------------------------------------------------------------------------------------------ */

_Static_assert((int)ND4C_IN_matmul_b == 1 && (int)ND4C_IN_linear_w == 1, "input 1 is the right-hand side of both ops");

static bool wants_layout(const nd4c_call *call, int32_t input, nd4c_layout *layout) {
  nd4c_cpu_product p;
  if (input != 1 || nd4c_cpu_product_read(call, &p) != NULL) {
    return false;
  }
  const bool turned = call->op->op == ND4C_OP_linear && ND4C_FLAG_OF(call, linear_transpose_w);
  nd4c_cpu_strips_describe(p.k, p.n, turned, nd4c_cpu_strips_for(p.k, p.n), layout);
  return true;
}

typedef struct packing {
  const nd4c_gemm_loops *loops;
  nd4c_gemm_matrix b;
  nd4c_gemm_strips strips;
  int64_t n, k;
  float *to;
} packing;

static void pack_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const packing *j = user;
  const int64_t first = begin * j->strips.columns, last = end * j->strips.columns;
  nd4c_gemm_matrix b = j->b;
  (void)worker;
  b.data += first * b.column_stride * (int64_t)sizeof(float);
  j->loops->pack((j->n < last ? j->n : last) - first, j->k, b, j->strips, j->to + first * j->strips.depth);
}

/* The stride of an axis of extent 1 means nothing. */
static nd4c_gemm_matrix matrix_of(const nd4c_cpu_product *p, const nd4c_cpu_matrices *x) {
  return (nd4c_gemm_matrix){.data = x->tensor->data,
                            .row_stride = x->strides[p->rank - 2],
                            .column_stride = x->shape[p->rank - 1] == 1 ? 1 : x->strides[p->rank - 1]};
}

static nd4c_status pack(const nd4c_call *call, int32_t input, const nd4c_layout *layout, const nd4c_tensor *to) {
  nd4c_cpu_product p;
  (void)input, (void)layout;
  nd4c_cpu_product_read(call, &p); /* wants_layout has seen that it can be read */
  packing j = {.loops = nd4c_simd.gemm->float32,
               .b = matrix_of(&p, &p.b),
               .strips = nd4c_cpu_strips_for(p.k, p.n),
               .n = p.n,
               .k = p.k,
               .to = to->data};
  nd4c_cpu_parallel(nd4c_cpu_divide_up(p.n, j.strips.columns), 1, call->width, pack_range, &j);
  return ND4C_OK;
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  return nd4c_cpu_packed_prepare(call, 1, state);
}

/* -- running ------------------------------------------------------------------------------------------------------ */

/* Parts of about equal size, as many as the workers can share evenly. */
static void cut(job *j, int32_t width) {
  j->row_parts = nd4c_cpu_divide_up(j->p.m, nd4c_simd_level_is("avx2") ? BLOCK_ROWS_AVX2 : BLOCK_ROWS);
  j->block = nd4c_cpu_divide_up(nd4c_cpu_divide_up(j->p.m, j->row_parts), j->loops->strip_rows) * j->loops->strip_rows;
  j->row_parts = nd4c_cpu_divide_up(j->p.m, j->block);
  j->panels = nd4c_cpu_divide_up(j->p.n, j->loops->strip_columns);
  j->column_parts = nd4c_cpu_divide_up(j->panels, BLOCK_PANELS);
  const bool even = width <= 1 || j->row_parts % width == 0;
  j->column_parts = even ? j->column_parts : nd4c_cpu_divide_up(j->column_parts, width) * width;
  j->column_parts = j->column_parts < j->panels ? j->column_parts : j->panels;
}

/* From the sums of a part's row to the next one's: no multiple of 4 KiB, at which rows would share a few lines of the
 * L1 cache, as those of y often do. */
static int64_t sums_step(const job *j) {
  return nd4c_cpu_divide_up(j->panels, j->column_parts) * j->loops->strip_columns + SUMS_GAP;
}

/* Sums that are complete at once are kept nowhere. */
static int64_t part_bytes(const job *j) {
  return j->p.k > j->loops->sum_terms ? j->block * sums_step(j) * (int64_t)sizeof(float) : 0;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  job j;
  nd4c_cpu_product_read(call, &j.p);
  j.loops = nd4c_simd.gemm->float32;
  cut(&j, call->width);
  return part_bytes(&j) * (call->width > 1 ? call->width : 1);
}

/* The elements of the addend do not lie side by side. */
static bool adds_apart(const nd4c_cpu_product *p) {
  return p->addend.tensor != NULL && matrix_of(p, &p->addend).column_stride != 1;
}

/* Adds to a row an addend whose elements do not lie side by side, and applies the activation. */
static void finish_row(const job *j, int64_t row, int64_t column, int64_t columns, bool adds, float *y) {
  if (adds) {
    const nd4c_gemm_matrix addend = matrix_of(&j->p, &j->p.addend);
    const float *from =
        (const float *)(const void *)addend.data + row * addend.row_stride + column * addend.column_stride;
    j->loops->start(columns, y, from, addend.column_stride, y);
  }
  if (j->activate != NULL) {
    j->activate(columns, y, y, &j->parameters);
  }
}

/* An addend is often much larger than the product: had the sums begun with it, each part of them would be rounded to
 * its size. */
static nd4c_gemm_ending ending_of(const job *j, int64_t row, int64_t column) {
  const nd4c_cpu_product *p = &j->p;
  nd4c_gemm_ending ending = {.y = matrix_of(p, &p->y), .activation = j->inner};
  ending.y.data += (row * ending.y.row_stride + column) * (int64_t)sizeof(float);
  ending.bias = p->bias != NULL ? (const float *)p->bias->data + column : NULL;
  if (p->addend.tensor != NULL) {
    ending.addend = matrix_of(p, &p->addend);
    ending.addend.data += (row * ending.addend.row_stride + column) * (int64_t)sizeof(float);
    ending.addend.data = adds_apart(p) ? NULL : ending.addend.data;
  }
  return ending;
}

/* Parts of the same columns follow each other: b, which is mostly larger than the caches, is read from memory once. */
static void part_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_cpu_product *p = &j->p;
  const int64_t wide = j->loops->strip_columns;
  const nd4c_gemm_matrix sums = {
      .data = j->sums + worker * part_bytes(j), .row_stride = sums_step(j), .column_stride = 1};
  for (int64_t part = begin; part < end; part++) {
    const int64_t row = part % j->row_parts * j->block, at = part / j->row_parts;
    const int64_t rows = p->m - row < j->block ? p->m - row : j->block;
    const int64_t column = at * j->panels / j->column_parts * wide;
    const int64_t column_end = (at + 1) * j->panels / j->column_parts * wide;
    const int64_t columns = (column_end < p->n ? column_end : p->n) - column;
    nd4c_gemm_matrix a = matrix_of(p, &p->a);
    a.data += row * a.row_stride * (int64_t)sizeof(float);
    const nd4c_gemm_ending ending = ending_of(j, row, column);
    j->loops->strips(rows, column, columns, p->k, a, p->b.tensor->data, j->strips, sums, j->loops->sum_terms, &ending);
    const bool adds = adds_apart(p);
    for (int64_t r = 0; r < rows && (adds || j->activate != NULL); r++) {
      finish_row(j, row + r, column, columns, adds, (float *)(void *)ending.y.data + r * ending.y.row_stride);
    }
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j; /* not cleared: see nd4c_cpu_product_read */
  nd4c_cpu_product_read(call, &j.p);
  j.loops = nd4c_simd.gemm->float32;
  j.strips = nd4c_cpu_strips_for(j.p.k, j.p.n);
  j.inner = adds_apart(&j.p) ? ND4C_INNER_NONE : nd4c_cpu_inner_activation(j.p.activation);
  j.activate = j.inner != ND4C_INNER_NONE ? NULL : nd4c_cpu_activation_loop(j.p.activation, ND4C_FLOAT32);
  j.parameters = nd4c_cpu_activation_parameters(j.p.activation, ND4C_FLOAT32);
  j.sums = call->scratch;
  cut(&j, call->width);
  nd4c_cpu_parallel(j.row_parts * j.column_parts, 1, call->width, part_range, &j);
  return ND4C_OK;
}

#define KERNEL(op)                                                                                                    \
  ND4C_CPU_KERNEL("simd", op, "packed_" #op, ND4C_CPU_PRIORITY_ONEDNN + 1, ND4C_DTYPE_BIT(ND4C_FLOAT32), usable, run, \
                  .prepare = prepare, .scratch_bytes = scratch_bytes, .flags = ND4C_KERNEL_SHARES_STATE,              \
                  .wants_layout = wants_layout, .pack = pack)

const nd4c_kernel *const nd4c_cpu_simd_contraction_packed_kernels[] = {KERNEL(matmul), KERNEL(linear), NULL};
