/* matmul and linear of engine simd in f32 with CONSTANT right-hand sides, which are packed once into the strips that
 * the kernels of oneDNN read as well. Their sums are shorter than oneDNN's, which adds up all of k in one: its error is
 * two to four times as large. dispatch/choice.c asks these kernels before oneDNN's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/contraction_product.h"
#include "backends/cpu/support/contraction_strips.h"

/* Fewer rows are a matter of reading b (simd/contraction.c, oneDNN). With more rows than these, results and a part of a
 * leave the L2 cache, and oneDNN was faster. MOST_PANELS: of a part; a panel has the loops' strip_columns. */
enum { LEAST_ROWS = 64, MOST_ROWS = 256, MOST_PANELS = 8 };

typedef struct job {
  nd4c_cpu_product p;
  const nd4c_gemm_loops *loops;
  nd4c_gemm_strips strips;
  nd4c_unary_loop activate; /* NULL: none */
  nd4c_unary_parameters parameters;
  int64_t panels, parts; /* of columns */
} job;

static int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

static bool has_step(const nd4c_cpu_matrices *x, int32_t axis) {
  return x->shape[axis] == 1 || x->strides[axis] == 1;
}

static const char *refuse(const nd4c_call *call) {
  nd4c_cpu_product p;
  if ((call->inputs[1].flags & ND4C_TENSOR_CONSTANT) == 0) {
    return "the right-hand side is not constant";
  }
  if (strcmp(nd4c_simd.level, "avx512") != 0) {
    return "without AVX-512 the libraries are faster";
  }
  const char *why = nd4c_cpu_product_read(call, &p);
  if (why != NULL) {
    return why;
  }
  if (p.batch != 1 || p.m < LEAST_ROWS || p.m > MOST_ROWS || p.m * p.n * p.k < ND4C_PRODUCT_SMALL) {
    return "a batch, few rows, many rows, or few multiplications";
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
  nd4c_cpu_parallel(divide_up(p.n, j.strips.columns), 1, call->width, pack_range, &j);
  return ND4C_OK;
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  ND4C_CPU_FAIL_IF(call->inputs[1].layout == ND4C_LAYOUT_STRIDED, ND4C_UNSUPPORTED,
                   "there is no memory for packed weights");
  *state = NULL;
  return ND4C_OK;
}

/* -- running ------------------------------------------------------------------------------------------------------ */

/* Parts of about equal size, as many as the workers can share evenly. */
static void cut(job *j, int32_t width) {
  j->panels = divide_up(j->p.n, j->loops->strip_columns);
  j->parts = divide_up(j->panels, MOST_PANELS);
  j->parts = width > 1 ? divide_up(j->parts, width) * width : j->parts;
  j->parts = j->parts < j->panels ? j->parts : j->panels;
}

/* Adds bias and addend to a row of results from `column` on, and applies the activation. An addend is often much larger
 * than the product: had the sums begun with it, each part of them would be rounded to its size. */
static void finish_row(const job *j, int64_t row, int64_t column, int64_t columns, float *y) {
  const nd4c_cpu_product *p = &j->p;
  if (p->bias != NULL) {
    j->loops->start(columns, y, (const float *)p->bias->data + column, 1, y);
  }
  if (p->addend.tensor != NULL) {
    const nd4c_gemm_matrix addend = matrix_of(p, &p->addend);
    const float *from =
        (const float *)(const void *)addend.data + row * addend.row_stride + column * addend.column_stride;
    j->loops->start(columns, y, from, addend.column_stride, y);
  }
  if (j->activate != NULL) {
    j->activate(columns, y, y, &j->parameters);
  }
}

static void part_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_cpu_product *p = &j->p;
  const nd4c_gemm_matrix a = matrix_of(p, &p->a), y = matrix_of(p, &p->y);
  const bool finishes = p->bias != NULL || p->addend.tensor != NULL || j->activate != NULL;
  const int64_t wide = j->loops->strip_columns;
  (void)worker;
  for (int64_t part = begin; part < end; part++) {
    int64_t column = part * j->panels / j->parts * wide, column_end = (part + 1) * j->panels / j->parts * wide;
    column_end = column_end < p->n ? column_end : p->n;
    nd4c_gemm_matrix to = y;
    to.data += column * (int64_t)sizeof(float);
    j->loops->strips(p->m, column, column_end - column, p->k, a, p->b.tensor->data, j->strips, to, false,
                     j->loops->sum_terms);
    for (int64_t row = 0; finishes && row < p->m; row++) {
      finish_row(j, row, column, column_end - column, (float *)(void *)to.data + row * y.row_stride);
    }
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j; /* not cleared: see nd4c_cpu_product_read */
  nd4c_cpu_product_read(call, &j.p);
  j.loops = nd4c_simd.gemm->float32;
  j.strips = nd4c_cpu_strips_for(j.p.k, j.p.n);
  j.activate = nd4c_cpu_activation_loop(j.p.activation, ND4C_FLOAT32);
  j.parameters = nd4c_cpu_activation_parameters(j.p.activation, ND4C_FLOAT32);
  cut(&j, call->width);
  nd4c_cpu_parallel(j.parts, 1, call->width, part_range, &j);
  return ND4C_OK;
}

#define KERNEL(op)                                                                                                    \
  ND4C_CPU_KERNEL("simd", op, "packed_" #op, ND4C_CPU_PRIORITY_ONEDNN + 1, ND4C_DTYPE_BIT(ND4C_FLOAT32), usable, run, \
                  .prepare = prepare, .flags = ND4C_KERNEL_SHARES_STATE, .wants_layout = wants_layout, .pack = pack)

const nd4c_kernel *const nd4c_cpu_simd_contraction_packed_kernels[] = {KERNEL(matmul), KERNEL(linear), NULL};
