/* Blocks of Householder reflectors as I - V T V^T, for decomposition_spectral.c. LAPACK takes 32 at a time and makes T
 * by products with vectors. Here the inverse of T is read off V^T V (its upper triangle, with 1 / tau on the diagonal),
 * and a block is three large products and a triangular system: two to three times as fast from a hundred rows on. */
#include "backends/cpu/openblas/decomposition_reflectors.h"

#include <string.h>

#include "backends/cpu/openblas/openblas.h"

enum { BLOCK = 64 };

/* One block: v [length, count] by columns, or its transpose, with the zeros and ones written out. */
typedef struct block {
  bool single, transposed;
  int length, count;
  char *v, *inverse, *product; /* V; T^-1 [count, count]; room for what is multiplied with it */
} block;

static void gemm(bool single, int form_a, int form_b, int m, int n, int k, double factor, const void *a, int lda,
                 const void *b, int ldb, double kept, void *c, int ldc) {
  const nd4c_openblas *blas = nd4c_openblas_get();
  if (m == 0 || n == 0) {
    return;
  }
  if (single) {
    blas->cblas_sgemm(CBLAS_BY_COLUMNS, form_a, form_b, m, n, k, (float)factor, a, lda, b, ldb, (float)kept, c, ldc);
  } else {
    blas->cblas_dgemm(CBLAS_BY_COLUMNS, form_a, form_b, m, n, k, factor, a, lda, b, ldb, kept, c, ldc);
  }
}

/* b [m, n] = op(a)^-1 b, or b op(a)^-1; a is an upper triangle. */
static void trsm(bool single, int side, int form, int m, int n, const void *a, int lda, void *b, int ldb) {
  const nd4c_openblas *blas = nd4c_openblas_get();
  if (m == 0 || n == 0) {
    return;
  }
  if (single) {
    blas->cblas_strsm(CBLAS_BY_COLUMNS, side, CBLAS_UPPER, form, CBLAS_NON_UNIT, m, n, 1, a, lda, b, ldb);
  } else {
    blas->cblas_dtrsm(CBLAS_BY_COLUMNS, side, CBLAS_UPPER, form, CBLAS_NON_UNIT, m, n, 1, a, lda, b, ldb);
  }
}

static int64_t bytes_of(bool single) {
  return single ? 4 : 8;
}

static double get(bool single, const void *a, int64_t position) {
  return single ? (double)((const float *)a)[position] : ((const double *)a)[position];
}

static void set(bool single, void *a, int64_t position, double value) {
  if (single) {
    ((float *)a)[position] = (float)value;
  } else {
    ((double *)a)[position] = value;
  }
}

/* Columns of the block: reflectors from `first` on. One with tau 0 is the identity: its column is 0. */
static void gather_columns(const nd4c_reflectors *q, int first, block *b) {
  int64_t bytes = bytes_of(q->single);
  for (int j = 0; j < b->count; j++) {
    char *to = b->v + (int64_t)j * b->length * bytes;
    const char *from = (const char *)q->a + ((int64_t)(first + j) * q->leading + first + q->shift) * bytes;
    bool none = get(q->single, q->tau, first + j) == 0;
    memset(to, 0, (size_t)((none ? b->length : j) * bytes));
    if (!none) {
      memcpy(to + j * bytes, from + j * bytes, (size_t)((b->length - j) * bytes));
      set(q->single, to, j, 1);
    }
  }
}

/* The same from rows, which stay rows: V^T [count, length]. */
static void gather_rows(const nd4c_reflectors *q, int first, block *b) {
  int64_t bytes = bytes_of(q->single);
  for (int i = 0; i < b->length; i++) {
    char *to = b->v + (int64_t)i * b->count * bytes;
    const char *from = (const char *)q->a + ((int64_t)(first + q->shift + i) * q->leading + first) * bytes;
    int there = i < b->count ? i : b->count;
    memcpy(to, from, (size_t)(there * bytes));
    memset(to + there * bytes, 0, (size_t)((b->count - there) * bytes));
    if (i < b->count) {
      set(q->single, to, i, 1);
    }
  }
  for (int j = 0; j < b->count; j++) {
    for (int i = 0; get(q->single, q->tau, first + j) == 0 && i < b->length; i++) {
      set(q->single, b->v, (int64_t)i * b->count + j, 0);
    }
  }
}

static void gather(const nd4c_reflectors *q, int first, block *b) {
  int k = b->count, lead = q->by_rows ? k : b->length;
  if (q->by_rows) {
    gather_rows(q, first, b);
  } else {
    gather_columns(q, first, b);
  }
  b->transposed = q->by_rows;
  gemm(q->single, q->by_rows ? CBLAS_AS_IS : CBLAS_TRANSPOSED, q->by_rows ? CBLAS_TRANSPOSED : CBLAS_AS_IS, k, k,
       b->length, 1, b->v, lead, b->v, lead, 0, b->inverse, k);
  for (int j = 0; j < k; j++) {
    double tau = get(q->single, q->tau, first + j);
    set(q->single, b->inverse, (int64_t)j * (k + 1), tau == 0 ? 1 : 1 / tau);
  }
}

/* c [length, columns] = Q c, or Q^T c. */
static void apply_left(const block *b, bool adjoint, int columns, void *c, int leading) {
  int k = b->count, lead = b->transposed ? k : b->length;
  gemm(b->single, b->transposed ? CBLAS_AS_IS : CBLAS_TRANSPOSED, CBLAS_AS_IS, k, columns, b->length, 1, b->v, lead, c,
       leading, 0, b->product, k);
  trsm(b->single, CBLAS_LEFT, adjoint ? CBLAS_TRANSPOSED : CBLAS_AS_IS, k, columns, b->inverse, k, b->product, k);
  gemm(b->single, b->transposed ? CBLAS_TRANSPOSED : CBLAS_AS_IS, CBLAS_AS_IS, b->length, columns, k, -1, b->v, lead,
       b->product, k, 1, c, leading);
}

/* c [rows, length] = c Q^T. */
static void apply_right(const block *b, int rows, void *c, int leading) {
  int k = b->count, lead = b->transposed ? k : b->length;
  gemm(b->single, CBLAS_AS_IS, b->transposed ? CBLAS_TRANSPOSED : CBLAS_AS_IS, rows, k, b->length, 1, c, leading, b->v,
       lead, 0, b->product, rows);
  trsm(b->single, CBLAS_RIGHT, CBLAS_TRANSPOSED, rows, k, b->inverse, k, b->product, rows);
  gemm(b->single, CBLAS_AS_IS, b->transposed ? CBLAS_AS_IS : CBLAS_TRANSPOSED, rows, b->length, k, -1, b->product, rows,
       b->v, lead, 1, c, leading);
}

/* Takes memory for blocks of reflectors with `length` elements, applied to `others` columns or rows. */
static bool take(nd4c_cpu_space *space, int32_t room, bool single, int length, int others, block *b) {
  int64_t bytes = bytes_of(single), v = (int64_t)length * BLOCK, inverse = BLOCK * BLOCK;
  char *memory = nd4c_cpu_space_take(space, room, v + inverse + (int64_t)others * BLOCK, bytes);
  if (memory == NULL) {
    return false;
  }
  b->single = single;
  b->v = memory;
  b->inverse = memory + v * bytes;
  b->product = memory + (v + inverse) * bytes;
  return true;
}

/* The last block's first reflector. */
static int last_block(int count) {
  return count > 0 ? (count - 1) / BLOCK * BLOCK : -1;
}

static void choose(const nd4c_reflectors *q, int first, block *b) {
  b->count = q->count - first < BLOCK ? q->count - first : BLOCK;
  b->length = q->length - q->shift - first;
  gather(q, first, b);
}

int64_t nd4c_reflectors_times(nd4c_cpu_space *space, int32_t room, const nd4c_reflectors *q, int columns, void *c,
                              bool is_identity) {
  block b;
  if (!take(space, room, q->single, q->length, columns, &b)) {
    return ND4C_DENSE_NO_MEMORY;
  }
  for (int first = last_block(q->count); first >= 0; first -= BLOCK) {
    int row = first + q->shift, column = is_identity ? row : 0;
    choose(q, first, &b);
    apply_left(&b, false, columns - column, (char *)c + ((int64_t)column * q->length + row) * bytes_of(q->single),
               q->length);
  }
  return ND4C_DENSE_FINE;
}

int64_t nd4c_reflectors_times_right(nd4c_cpu_space *space, int32_t room, const nd4c_reflectors *q, int rows, void *c) {
  block b;
  if (!take(space, room, q->single, q->length, rows, &b)) {
    return ND4C_DENSE_NO_MEMORY;
  }
  for (int first = last_block(q->count); first >= 0; first -= BLOCK) {
    choose(q, first, &b);
    apply_right(&b, rows, (char *)c + (int64_t)(first + q->shift) * rows * bytes_of(q->single), rows);
  }
  return ND4C_DENSE_FINE;
}

int64_t nd4c_reflectors_qr(nd4c_cpu_space *space, int32_t room, bool single, int m, int n, void *a, void *tau,
                           void *work, int count) {
  const nd4c_lapack *lapack = &nd4c_openblas_get()->lapack;
  int least = m < n ? m : n;
  int64_t bytes = bytes_of(single);
  block b;
  if (!take(space, room, single, m, n, &b)) {
    return ND4C_DENSE_NO_MEMORY;
  }
  for (int first = 0; first < least; first += BLOCK) {
    b.count = least - first < BLOCK ? least - first : BLOCK;
    b.length = m - first;
    char *panel = (char *)a + (int64_t)first * (m + 1) * bytes;
    (single ? lapack->LAPACKE_sgeqrf_work : lapack->LAPACKE_dgeqrf_work)(LAPACKE_BY_COLUMNS, b.length, b.count, panel,
                                                                         m, (char *)tau + first * bytes, work, count);
    if (first + b.count < n) {
      const nd4c_reflectors q = {.single = single, .length = m, .count = least, .a = a, .tau = tau, .leading = m};
      gather(&q, first, &b);
      apply_left(&b, true, n - first - b.count, panel + (int64_t)b.count * m * bytes, m);
    }
  }
  return ND4C_DENSE_FINE;
}
