/* matmul, linear, vecdot, matvec and vecmat of engine simd: f32 and f64, any strides. A call takes one of five ways, by
 * its shape and strides. dispatch/choice.c asks the own_* kernels before the libraries' and the others after them;
 * cpu/README.md lists which class of product goes where. */
#include <string.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/contraction_product.h"

typedef enum way {
  WAY_DOT,    /* one row and one column */
  WAY_ROWS,   /* few rows, b by rows: b is read once */
  WAY_DOTS,   /* few rows, b by columns: b is read once */
  WAY_DIRECT, /* b by rows, in the L2 cache or used by few rows: b is read in place */
  WAY_PACKED
} way;

/* b is read once for up to FEW_ROWS rows of a if b is by rows, and FEW_DOTS if by columns. Up to FEW_STRIPS rows,
 * packing a large b takes longer than reading it in strips. */
enum { FEW_ROWS = 3, FEW_DOTS = 8, FEW_STRIPS = 24 };
/* Bytes of b that stay in the L1 cache (NEAREST) and in the L2 cache (NEAR); packed weights of LARGE bytes and more are
 * read no faster. */
enum { NEAREST_BYTES = 1 << 15, NEAR_BYTES = 1 << 19, LARGE_BYTES = 1 << 24 };
/* Elements of a long dot product that make one sum; multiplications that are worth a thread. */
enum { PIECE = 1 << 14, GRAIN = 1 << 16 };

typedef struct job {
  nd4c_cpu_product p;
  const nd4c_gemm_loops *loops;
  const nd4c_thin_loops *thin;
  way way;
  int64_t bytes;
  bool adds;
  int64_t rows, columns; /* of a part */
  int64_t row_parts, column_parts;
  char *buffers;
} job;

static bool has_step(const nd4c_cpu_matrices *x, int32_t axis) {
  return x->shape[axis] == 1 || x->strides[axis] == 1;
}

/* The best way to compute a product without exchanging its operands. */
static way way_of(const nd4c_cpu_product *p, int64_t bytes) {
  int32_t row = p->rank - 2, column = p->rank - 1;
  bool b_rows = has_step(&p->b, column), b_columns = has_step(&p->b, row), a_rows = has_step(&p->a, column);
  if (p->m == 1 && p->n == 1 && a_rows && b_columns) {
    return WAY_DOT;
  }
  if (p->m <= FEW_ROWS && p->n > 1 && b_rows && has_step(&p->y, column)) {
    return WAY_ROWS;
  }
  if (p->m <= FEW_DOTS && p->n > p->m && b_columns && a_rows) {
    return WAY_DOTS;
  }
  double b_bytes = (double)p->k * (double)p->n * (double)bytes;
  return b_rows && (p->m <= FEW_STRIPS || b_bytes <= NEAR_BYTES) ? WAY_DIRECT : WAY_PACKED;
}

/* Turns the product to that of the transposes if its columns are few, and picks its way. */
static way choose(nd4c_cpu_product *p, int64_t bytes) {
  if (p->n < p->m && p->n <= FEW_DOTS) {
    nd4c_cpu_product_turn(p);
    way turned = way_of(p, bytes);
    if (turned < WAY_DIRECT) {
      return turned;
    }
    nd4c_cpu_product_turn(p);
  }
  return way_of(p, bytes);
}

static bool is_single(const nd4c_call *call) {
  return call->outputs[0].dtype == ND4C_FLOAT32;
}

static const nd4c_gemm_loops *loops_of(const nd4c_call *call) {
  return is_single(call) ? nd4c_simd.gemm->float32 : nd4c_simd.gemm->float64;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cpu_product p;
  const char *why = nd4c_cpu_product_read(call, &p);
  ND4C_CPU_DECLINE_IF(why != NULL, "%s", why);
  bool around = p.bias != NULL || p.addend.tensor != NULL || p.activation != ND4C_ACTIVATION_NONE;
  return !around || p.y.shape[p.rank - 1] == 1 || p.y.strides[p.rank - 1] == 1 ||
         nd4c_cpu_decline(reason, reason_size, "the result's rows have gaps");
}

/* Why a product that this engine can compute is left to the libraries; NULL if it is not. README.md has the rule.
 * Constant weights by columns that are read once stay here, too: the sums of the libraries are less exact. */
static const char *leave(const nd4c_cpu_product *given, bool single) {
  nd4c_cpu_product p = *given;
  way chosen = choose(&p, single ? 4 : 8);
  double b_bytes = (double)p.k * (double)p.n * (single ? 4 : 8);
  if (strcmp(nd4c_simd.level, "avx512") != 0) {
    return "without AVX-512 the libraries are as fast";
  }
  if (chosen == WAY_PACKED) {
    return "both operands have to be packed: the libraries do that as well";
  }
  if (!single) {
    return NULL;
  }
  bool once = chosen == WAY_DOT || chosen == WAY_DOTS || (p.m == 1 && b_bytes >= LARGE_BYTES);
  if ((given->b.tensor->flags & ND4C_TENSOR_CONSTANT) != 0 && !once) {
    return "the right-hand side is constant: the libraries pack it once";
  }
  if ((chosen == WAY_ROWS && p.m > 1) || (chosen == WAY_DIRECT && (p.batch > 1 || b_bytes > NEAREST_BYTES))) {
    return "oneDNN is as fast";
  }
  return NULL;
}

/* Whether this engine computes a product before the libraries are asked. */
static bool preferred(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cpu_product p;
  if (!usable(call, reason, reason_size)) {
    return false;
  }
  nd4c_cpu_product_read(call, &p);
  const char *why = leave(&p, is_single(call));
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

static int64_t buffer_bytes(const nd4c_gemm_loops *loops) {
  return (loops->buffer_bytes + 63) & ~(int64_t)63;
}

static int64_t pieces_of(const nd4c_cpu_product *p) {
  return (p->k + PIECE - 1) / PIECE;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  nd4c_cpu_product p;
  nd4c_cpu_product_read(call, &p);
  switch (choose(&p, is_single(call) ? 4 : 8)) {
    case WAY_DOT:
      return p.batch * pieces_of(&p) * (is_single(call) ? 4 : 8);
    case WAY_PACKED:
      return (call->width > 1 ? call->width : 1) * buffer_bytes(loops_of(call));
    default:
      return 0;
  }
}

static nd4c_gemm_matrix matrix_of(const job *j, const nd4c_cpu_matrices *x, int64_t index) {
  int32_t row = j->p.rank - 2;
  nd4c_gemm_matrix result = {.row_stride = x->strides[row], .column_stride = x->strides[row + 1]};
  if (x->shape[row + 1] == 1) {
    result.column_stride = 1;
  }
  result.data = (char *)x->tensor->data + nd4c_cpu_matrices_offset(&j->p, x, index) * j->bytes;
  return result;
}

/* Parts of matrices, counted through. */
static void part_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  for (int64_t part = begin; part < end; part++) {
    int64_t column = part % j->column_parts * j->columns;
    int64_t row = part / j->column_parts % j->row_parts * j->rows;
    int64_t index = part / j->column_parts / j->row_parts;
    int64_t m = j->p.m - row < j->rows ? j->p.m - row : j->rows;
    int64_t n = j->p.n - column < j->columns ? j->p.n - column : j->columns;
    nd4c_gemm_matrix a = matrix_of(j, &j->p.a, index), b = matrix_of(j, &j->p.b, index);
    nd4c_gemm_matrix y = matrix_of(j, &j->p.y, index);
    a.data += row * a.row_stride * j->bytes;
    b.data += column * b.column_stride * j->bytes;
    y.data += (row * y.row_stride + column * y.column_stride) * j->bytes;
    if (j->way == WAY_PACKED) {
      j->loops->multiply(m, n, j->p.k, a, b, y, j->adds, j->buffers + worker * buffer_bytes(j->loops));
    } else if (j->way == WAY_DIRECT) {
      j->loops->direct(m, n, j->p.k, a, b, y, j->adds, j->loops->sum_terms);
    } else if (j->way == WAY_ROWS) {
      j->thin->rows(m, n, j->p.k, a, b, y, j->adds);
    } else {
      j->thin->dots(m, n, j->p.k, a, b, y, j->adds);
    }
  }
}

static int64_t part_extent(int64_t extent, int64_t parts, int64_t multiple) {
  return (extent + parts * multiple - 1) / (parts * multiple) * multiple;
}

/* Cuts each matrix into `parts` parts that are as equal as strips allow. Of all such cuts it takes the one whose parts
 * read the least. */
static void cut(job *j, int64_t parts) {
  int64_t least = INT64_MAX, multiple = j->way == WAY_DOTS ? 4 : j->loops->strip_columns;
  for (int64_t down = 1; down <= parts; down++) {
    int64_t across = parts / down;
    if (down * across != parts || (down > 1 && j->way < WAY_DIRECT)) {
      continue;
    }
    int64_t rows = down == 1 ? j->p.m : part_extent(j->p.m, down, 4);
    int64_t columns = across == 1 ? j->p.n : part_extent(j->p.n, across, multiple);
    int64_t cost = rows * columns + 8 * (rows + columns); /* packing and reading beside multiplying */
    if (cost < least) {
      least = cost;
      j->rows = rows;
      j->columns = columns;
    }
  }
  j->row_parts = (j->p.m + j->rows - 1) / j->rows;
  j->column_parts = (j->p.n + j->columns - 1) / j->columns;
}

static void multiply(job *j, int32_t width) {
  int64_t each = j->p.m * j->p.n * j->p.k, parts = 1;
  if (j->p.batch < 8 * width) {
    parts = each / GRAIN < width ? each / GRAIN : width;
  }
  cut(j, parts > 1 ? parts : 1);
  int64_t count = j->p.batch * j->row_parts * j->column_parts;
  nd4c_cpu_parallel(count, GRAIN / (each / (j->row_parts * j->column_parts) + 1) + 1, width, part_range, j);
}

/* -- dot products: pieces of fixed length, whose sums are added up in their order, so that the width does not show ----
 */

static void dot_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  int64_t pieces = pieces_of(&j->p);
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t first = i % pieces * PIECE, left = j->p.k - first;
    nd4c_gemm_matrix a = matrix_of(j, &j->p.a, i / pieces), b = matrix_of(j, &j->p.b, i / pieces);
    char *to = pieces == 1 && !j->adds ? matrix_of(j, &j->p.y, i).data : j->buffers + i * j->bytes;
    j->thin->dot(left < PIECE ? left : PIECE, a.data + first * j->bytes, b.data + first * j->bytes, to);
  }
}

static void dot(const job *j, int32_t width) {
  int64_t pieces = pieces_of(&j->p);
  nd4c_cpu_parallel(j->p.batch * pieces, GRAIN / (j->p.k / pieces + 1) + 1, width, dot_range, (void *)(uintptr_t)j);
  for (int64_t index = 0; index < j->p.batch && (pieces > 1 || j->adds); index++) {
    double sum = 0;
    for (int64_t piece = index * pieces; piece < (index + 1) * pieces; piece++) {
      sum += j->bytes == 4 ? (double)((const float *)(void *)j->buffers)[piece]
                           : ((const double *)(void *)j->buffers)[piece];
    }
    char *y = matrix_of(j, &j->p.y, index).data;
    if (j->bytes == 4) {
      *(float *)(void *)y = (float)(sum + (j->adds ? (double)*(float *)(void *)y : 0));
    } else {
      *(double *)(void *)y = sum + (j->adds ? *(double *)(void *)y : 0);
    }
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j; /* not cleared: see nd4c_cpu_product_read */
  bool single = is_single(call);
  j.loops = loops_of(call);
  j.thin = single ? nd4c_simd.gemm->thin_float32 : nd4c_simd.gemm->thin_float64;
  j.bytes = single ? 4 : 8;
  j.buffers = call->scratch;
  nd4c_cpu_product_read(call, &j.p); /* usable has seen that it can be read */
  int32_t width = call->width;
  j.adds = nd4c_cpu_product_start(&j.p, width);
  bool finishes = j.p.activation != ND4C_ACTIVATION_NONE;
  j.way = choose(&j.p, j.bytes);
  if (j.way == WAY_DOT) {
    dot(&j, width);
  } else {
    multiply(&j, width);
  }
  if (finishes) {
    nd4c_cpu_product_read(call, &j.p); /* as it was before it was turned */
    nd4c_cpu_product_finish(&j.p, width);
  }
  return ND4C_OK;
}

#define KERNEL(op, name, priority, its_usable)                                                                         \
  ND4C_CPU_KERNEL("simd", op, name, priority, ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64), its_usable, \
                  run, .scratch_bytes = scratch_bytes)
#define PREFERRED(op) KERNEL(op, "own_" #op, ND4C_CPU_PRIORITY_ONEDNN + 2, preferred)
#define PLAIN(op) KERNEL(op, #op, ND4C_SIMD_PRIORITY, usable)

const nd4c_kernel *const nd4c_cpu_simd_contraction_kernels[] = {
    PREFERRED(matmul), PREFERRED(linear), PLAIN(matmul), PLAIN(linear),
    PLAIN(vecdot),     PLAIN(matvec),     PLAIN(vecmat), NULL};
