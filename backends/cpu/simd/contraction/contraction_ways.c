/* Implements contraction_ways.h: picks the way of a product, cuts matrices into parts, and shares these out. */
#include "backends/cpu/simd/contraction/contraction_ways.h"

/* b is read once for up to FEW_ROWS rows of a if b is by rows, and FEW_DOTS if by columns. Up to FEW_STRIPS rows,
 * packing a large b takes longer than reading it in strips. */
enum { FEW_ROWS = 3, FEW_DOTS = 8, FEW_STRIPS = 24 };
/* Bytes of b that stay in the L2 cache. */
enum { NEAR_BYTES = 1 << 19 };
/* Elements of a long dot product that make one sum; multiplications that are worth a thread. */
enum { PIECE = 1 << 14, GRAIN = 1 << 16 };

static bool has_step(const nd4c_cpu_matrices *x, int32_t axis) {
  return x->shape[axis] == 1 || x->strides[axis] == 1;
}

/* The best way to compute a product without exchanging its operands. */
static nd4c_simd_way way_of(const nd4c_cpu_product *p, int64_t bytes) {
  int32_t row = p->rank - 2, column = p->rank - 1;
  bool b_rows = has_step(&p->b, column), b_columns = has_step(&p->b, row), a_rows = has_step(&p->a, column);
  if (p->m == 1 && p->n == 1 && a_rows && b_columns) {
    return ND4C_WAY_DOT;
  }
  if (p->m <= FEW_ROWS && p->n > 1 && b_rows && has_step(&p->y, column)) {
    return ND4C_WAY_ROWS;
  }
  if (p->m <= FEW_DOTS && p->n > p->m && b_columns && a_rows) {
    return ND4C_WAY_DOTS;
  }
  double b_bytes = (double)p->k * (double)p->n * (double)bytes;
  return b_rows && (p->m <= FEW_STRIPS || b_bytes <= NEAR_BYTES) ? ND4C_WAY_DIRECT : ND4C_WAY_PACKED;
}

nd4c_simd_way nd4c_simd_product_choose(nd4c_cpu_product *p, int64_t bytes) {
  if (p->n < p->m && p->n <= FEW_DOTS) {
    nd4c_cpu_product_turn(p);
    nd4c_simd_way turned = way_of(p, bytes);
    if (turned < ND4C_WAY_DIRECT) {
      return turned;
    }
    nd4c_cpu_product_turn(p);
  }
  return way_of(p, bytes);
}

static int64_t buffer_bytes(const nd4c_gemm_loops *loops) {
  return (loops->buffer_bytes + 63) & ~(int64_t)63;
}

static int64_t pieces_of(const nd4c_cpu_product *p) {
  return (p->k + PIECE - 1) / PIECE;
}

int64_t nd4c_simd_product_scratch(const nd4c_cpu_product *p, nd4c_simd_way way, const nd4c_gemm_loops *loops,
                                  int64_t y_bytes, int32_t width) {
  switch (way) {
    case ND4C_WAY_DOT:
      return p->batch * pieces_of(p) * y_bytes;
    case ND4C_WAY_PACKED:
      return (width > 1 ? width : 1) * buffer_bytes(loops);
    default:
      return 0;
  }
}

static nd4c_gemm_matrix matrix_of(const nd4c_simd_product *j, const nd4c_cpu_matrices *x, int64_t bytes,
                                  int64_t index) {
  int32_t row = j->p.rank - 2;
  nd4c_gemm_matrix result = {.row_stride = x->strides[row], .column_stride = x->strides[row + 1]};
  if (x->shape[row + 1] == 1) {
    result.column_stride = 1;
  }
  result.data = (char *)x->tensor->data + nd4c_cpu_matrices_offset(&j->p, x, index) * bytes;
  return result;
}

/* Parts of matrices, counted through. */
static void part_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const nd4c_simd_product *j = user;
  const bool whole = j->column_parts == 1 && j->row_parts == 1; /* small matrices take no longer than divisions */
  for (int64_t part = begin; part < end; part++) {
    int64_t column = whole ? 0 : part % j->column_parts * j->columns;
    int64_t row = whole ? 0 : part / j->column_parts % j->row_parts * j->rows;
    int64_t index = whole ? part : part / j->column_parts / j->row_parts;
    int64_t m = j->p.m - row < j->rows ? j->p.m - row : j->rows;
    int64_t n = j->p.n - column < j->columns ? j->p.n - column : j->columns;
    nd4c_gemm_matrix a = matrix_of(j, &j->p.a, j->a_bytes, index), b = matrix_of(j, &j->p.b, j->b_bytes, index);
    nd4c_gemm_matrix y = matrix_of(j, &j->p.y, j->y_bytes, index);
    a.data += row * a.row_stride * j->a_bytes;
    b.data += column * b.column_stride * j->b_bytes;
    y.data += (row * y.row_stride + column * y.column_stride) * j->y_bytes;
    if (j->way == ND4C_WAY_PACKED) {
      j->loops->multiply(m, n, j->p.k, a, b, y, j->adds, j->buffers + worker * buffer_bytes(j->loops));
    } else if (j->way == ND4C_WAY_DIRECT) {
      j->loops->direct(m, n, j->p.k, a, b, y, j->adds, j->loops->sum_terms);
    } else if (j->way == ND4C_WAY_ROWS) {
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
static void cut(nd4c_simd_product *j, int64_t parts) {
  int64_t least = INT64_MAX, multiple = j->way == ND4C_WAY_DOTS ? 4 : j->loops->strip_columns;
  for (int64_t down = 1; down <= parts; down++) {
    int64_t across = parts / down;
    if (down * across != parts || (down > 1 && j->way < ND4C_WAY_DIRECT)) {
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

static void multiply(nd4c_simd_product *j) {
  int64_t each = j->p.m * j->p.n * j->p.k, parts = 1;
  if (j->p.batch < 8 * j->width) {
    parts = each / GRAIN < j->width ? each / GRAIN : j->width;
  }
  cut(j, parts > 1 ? parts : 1);
  int64_t count = j->p.batch * j->row_parts * j->column_parts;
  nd4c_cpu_parallel(count, GRAIN / (each / (j->row_parts * j->column_parts) + 1) + 1, j->width, part_range, j);
}

/* -- dot products: pieces of fixed length, whose sums are added up in their order, so that the width does not show ----
 */

static void dot_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const nd4c_simd_product *j = user;
  int64_t pieces = pieces_of(&j->p);
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t first = i % pieces * PIECE, left = j->p.k - first;
    nd4c_gemm_matrix a = matrix_of(j, &j->p.a, j->a_bytes, i / pieces);
    nd4c_gemm_matrix b = matrix_of(j, &j->p.b, j->b_bytes, i / pieces);
    char *to = pieces == 1 && !j->adds ? matrix_of(j, &j->p.y, j->y_bytes, i).data : j->buffers + i * j->y_bytes;
    j->thin->dot(left < PIECE ? left : PIECE, a.data + first * j->a_bytes, b.data + first * j->b_bytes, to);
  }
}

static void dot(nd4c_simd_product *j) {
  int64_t pieces = pieces_of(&j->p);
  nd4c_cpu_parallel(j->p.batch * pieces, GRAIN / (j->p.k / pieces + 1) + 1, j->width, dot_range, j);
  for (int64_t index = 0; index < j->p.batch && (pieces > 1 || j->adds); index++) {
    j->total(j->buffers + index * pieces * j->y_bytes, pieces, j->adds, matrix_of(j, &j->p.y, j->y_bytes, index).data);
  }
}

void nd4c_simd_product_run(nd4c_simd_product *j) {
  if (j->way == ND4C_WAY_DOT) {
    dot(j);
  } else {
    multiply(j);
  }
}
