/* Ops that are a factorisation, or are read off one: triangles, eigenvalues, singular values. nd4c_cpu_dense_run calls
 * them for each matrix of a batch. */
#include <string.h>

#include "backends/cpu/support/decomposition.h"

enum { ROOM_A, ROOM_B, ROOM_C, ROOM_D, ROOM_E, ROOM_F, ROOM_G, ROOM_PIVOTS = 8 };

static double *take_reals(nd4c_cpu_space *space, int32_t slot, int64_t count) {
  return nd4c_cpu_space_take(space, slot, count, sizeof(double));
}

static char *at(const nd4c_cpu_dense_job *job, void *a, int64_t position) {
  return (char *)a + position * job->bytes;
}

/* Columns by columns: the first `rows` of each. */
static void keep_rows(const nd4c_cpu_dense_job *job, int64_t m, int64_t rows, int64_t n, void *a) {
  for (int64_t j = 0; j < n && rows < m; j++) {
    memmove(at(job, a, j * rows), at(job, a, j * m), (size_t)(rows * job->bytes));
  }
}

static bool is_true(const nd4c_cpu_dense_job *job, int32_t attr) {
  return job->call->attrs[attr].as.i != 0;
}

/* -- triangles -------------------------------------------------------------------------------------------------- */

int64_t nd4c_cpu_dense_qr(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  static const int32_t axes[] = {2, 2};
  int64_t m = job->m, n = job->n, inner = is_true(job, ND4C_ATTR_qr_complete) ? m : job->least;
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index),
       *q = nd4c_cpu_dense_take(job, space, ROOM_B, m * inner);
  if (a == NULL || q == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  if (!nd4c_cpu_dense_is_finite(job, m * n, a)) {
    return nd4c_cpu_dense_store_nan(job, space, index, axes);
  }
  int64_t info = job->dense->qr(space, m, n, a, inner, q);
  if (info == 0) {
    nd4c_cpu_dense_clear_triangle(job, false, m, n, a);
    keep_rows(job, m, inner, n, a);
    nd4c_cpu_dense_store(job, 0, 2, index, q);
    nd4c_cpu_dense_store(job, 1, 2, index, a);
  }
  return info;
}

/* The row that stands in each place after the exchanges. */
static void permutation_of(int64_t m, int64_t steps, const int64_t *pivots, int64_t *rows) {
  for (int64_t i = 0; i < m; i++) {
    rows[i] = i;
  }
  for (int64_t i = 0; i < steps; i++) {
    int64_t kept = rows[i];
    rows[i] = rows[pivots[i]];
    rows[pivots[i]] = kept;
  }
}

int64_t nd4c_cpu_dense_lu(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  static const int32_t axes[] = {2, 2, 2};
  int64_t m = job->m, n = job->n, least = job->least, *rows;
  int64_t *pivots = nd4c_cpu_space_take(space, ROOM_PIVOTS, m + least, sizeof *pivots);
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index), *p = nd4c_cpu_dense_take(job, space, ROOM_B, m * m);
  void *l = nd4c_cpu_dense_take(job, space, ROOM_C, m * least);
  if (pivots == NULL || a == NULL || p == NULL || l == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  if (!nd4c_cpu_dense_is_finite(job, m * n, a)) {
    return nd4c_cpu_dense_store_nan(job, space, index, axes);
  }
  if (job->dense->lu(space, m, n, a, pivots) == ND4C_DENSE_NO_MEMORY) {
    return ND4C_DENSE_NO_MEMORY;
  }
  rows = pivots + least;
  permutation_of(m, least, pivots, rows);
  memset(p, 0, (size_t)(m * m * job->bytes));
  for (int64_t i = 0; i < m; i++) {
    nd4c_cpu_dense_set(job, p, i * m + rows[i], 1);
  }
  memcpy(l, a, (size_t)(m * least * job->bytes));
  nd4c_cpu_dense_clear_triangle(job, true, m, least, l);
  for (int64_t i = 0; i < least; i++) {
    nd4c_cpu_dense_set(job, l, i * m + i, 1);
  }
  nd4c_cpu_dense_clear_triangle(job, false, m, n, a);
  keep_rows(job, m, least, n, a);
  nd4c_cpu_dense_store(job, 0, 2, index, p);
  nd4c_cpu_dense_store(job, 1, 2, index, l);
  nd4c_cpu_dense_store(job, 2, 2, index, a);
  return ND4C_DENSE_FINE;
}

int64_t nd4c_cpu_dense_lu_factor(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  static const int32_t axes[] = {2, 1};
  int64_t *pivots = nd4c_cpu_space_take(space, ROOM_PIVOTS, job->least, sizeof *pivots);
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index);
  if (pivots == NULL || a == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  if (!nd4c_cpu_dense_is_finite(job, job->m * job->n, a)) {
    return nd4c_cpu_dense_store_nan(job, space, index, axes);
  }
  if (job->dense->lu(space, job->m, job->n, a, pivots) == ND4C_DENSE_NO_MEMORY) {
    return ND4C_DENSE_NO_MEMORY;
  }
  nd4c_cpu_dense_store(job, 0, 2, index, a);
  nd4c_cpu_dense_store_as(job, 1, 1, index, ND4C_INT64, pivots);
  return ND4C_DENSE_FINE;
}

/* -- eigenvalues ------------------------------------------------------------------------------------------------ */

static void conjugate(const nd4c_cpu_dense_job *job, int64_t count, void *a) {
  for (int64_t i = 1; i < 2 * count; i += 2) {
    if (job->dense->single) {
      ((float *)a)[i] = -((float *)a)[i];
    } else {
      ((double *)a)[i] = -((double *)a)[i];
    }
  }
}

static int64_t hermitian(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space, bool upper,
                         bool vectors) {
  static const int32_t axes[] = {1, 2};
  int64_t n = job->n;
  nd4c_dense_place from = nd4c_cpu_dense_place(job, &job->call->inputs[0], 2, index);
  void *a = nd4c_cpu_dense_take(job, space, ROOM_A, n * n);
  void *v = vectors ? nd4c_cpu_dense_take(job, space, ROOM_B, n * n) : NULL;
  void *w = take_reals(space, ROOM_C, n);
  if (a == NULL || w == NULL || (vectors && v == NULL)) {
    return ND4C_DENSE_NO_MEMORY;
  }
  from = upper ? nd4c_cpu_dense_transposed(from) : from;
  nd4c_cpu_dense_load_from(job, &from, a);
  nd4c_cpu_dense_clear_triangle(job, true, n, n, a);
  if (!nd4c_cpu_dense_is_finite(job, n * n, a)) {
    return nd4c_cpu_dense_store_nan(job, space, index, axes);
  }
  if (upper && job->dense->complex_numbers) {
    conjugate(job, n * n, a);
  }
  int64_t info = job->dense->eigh(space, n, a, w, v);
  if (info == 0) {
    nd4c_cpu_dense_store_real(job, 0, 1, index, w);
  }
  if (info == 0 && vectors) {
    nd4c_cpu_dense_store(job, 1, 2, index, v);
  }
  return info;
}

int64_t nd4c_cpu_dense_eigh(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  return hermitian(job, index, space, is_true(job, ND4C_ATTR_eigh_upper), true);
}

int64_t nd4c_cpu_dense_eigvalsh(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  return hermitian(job, index, space, is_true(job, ND4C_ATTR_eigvalsh_upper), false);
}

static int64_t general(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space, bool vectors) {
  static const int32_t axes[] = {1, 2};
  int64_t n = job->n;
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index);
  double complex *w = nd4c_cpu_space_take(space, ROOM_B, n, sizeof *w), *v = NULL;
  if (vectors) {
    v = nd4c_cpu_space_take(space, ROOM_C, n * n, sizeof *v);
  }
  if (a == NULL || w == NULL || (vectors && v == NULL)) {
    return ND4C_DENSE_NO_MEMORY;
  }
  if (!nd4c_cpu_dense_is_finite(job, n * n, a)) {
    return nd4c_cpu_dense_store_nan(job, space, index, axes);
  }
  int64_t info = job->dense->eig(space, n, a, w, v);
  if (info == 0) {
    nd4c_dense_place to = nd4c_cpu_dense_place(job, &job->call->outputs[0], 1, index);
    nd4c_dense_store(&to, true, w);
  }
  if (info == 0 && vectors) {
    nd4c_dense_place to = nd4c_cpu_dense_place(job, &job->call->outputs[1], 2, index);
    nd4c_dense_store(&to, true, v);
  }
  return info;
}

int64_t nd4c_cpu_dense_eig(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  return general(job, index, space, true);
}

int64_t nd4c_cpu_dense_eigvals(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  return general(job, index, space, false);
}

/* -- singular values -------------------------------------------------------------------------------------------- */

int64_t nd4c_cpu_dense_svd(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  static const int32_t axes[] = {2, 1, 2};
  int64_t m = job->m, n = job->n;
  bool full = is_true(job, ND4C_ATTR_svd_full_matrices);
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index);
  void *u = nd4c_cpu_dense_take(job, space, ROOM_B, m * (full ? m : job->least));
  void *vh = nd4c_cpu_dense_take(job, space, ROOM_C, n * (full ? n : job->least));
  void *s = take_reals(space, ROOM_D, job->least);
  if (a == NULL || u == NULL || vh == NULL || s == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  if (!nd4c_cpu_dense_is_finite(job, m * n, a)) {
    return nd4c_cpu_dense_store_nan(job, space, index, axes);
  }
  int64_t info = job->dense->svd(space, m, n, a, full, s, u, vh);
  if (info == 0) {
    nd4c_cpu_dense_store(job, 0, 2, index, u);
    nd4c_cpu_dense_store_real(job, 1, 1, index, s);
    nd4c_cpu_dense_store(job, 2, 2, index, vh);
  }
  return info;
}

/* Singular values of the matrix at `index`, real numbers of the job's precision, all NaN if it is not finite. */
static int64_t values_of(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space, double **s) {
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index);
  *s = take_reals(space, ROOM_D, job->least);
  if (a == NULL || *s == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  if (nd4c_cpu_dense_is_finite(job, job->m * job->n, a)) {
    return job->dense->svd(space, job->m, job->n, a, false, *s, NULL, NULL);
  }
  for (int64_t i = 0; i < job->least; i++) {
    if (job->dense->single) {
      ((float *)*s)[i] = (float)NAN;
    } else {
      (*s)[i] = (double)NAN;
    }
  }
  return ND4C_DENSE_FINE;
}

int64_t nd4c_cpu_dense_svdvals(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  double *s;
  int64_t info = values_of(job, index, space, &s);
  if (info == 0) {
    nd4c_cpu_dense_store_real(job, 0, 1, index, s);
  }
  return info;
}

/* Distance of 1 and the next number of the dtype that the op's operands are given in. */
static double epsilon_of(const nd4c_cpu_dense_job *job) {
  switch (job->call->inputs[0].dtype) {
    case ND4C_FLOAT16:
      return 0x1p-10;
    case ND4C_BFLOAT16:
      return 0x1p-7;
    case ND4C_FLOAT32:
    case ND4C_COMPLEX64:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

/* Singular values up to this count as 0. */
static double cutoff_of(const nd4c_cpu_dense_job *job, double rtol, const double *s) {
  double most = (double)(job->m > job->n ? job->m : job->n);
  return job->least == 0 ? 0 : (rtol < 0 ? most * epsilon_of(job) : rtol) * s[0];
}

static int64_t rank_of(const nd4c_cpu_dense_job *job, double rtol, const double *s) {
  double cutoff = cutoff_of(job, rtol, s);
  int64_t rank = 0;
  while (rank < job->least && s[rank] > cutoff) {
    rank++;
  }
  return rank;
}

int64_t nd4c_cpu_dense_matrix_rank(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  double *s;
  int64_t info = values_of(job, index, space, &s);
  if (info == 0) {
    double rank = (double)rank_of(job, ND4C_REAL_OF(job->call, matrix_rank_rtol), s);
    nd4c_cpu_dense_store_real(job, 0, 0, index, &rank);
  }
  return info;
}

/* Row i of a [rows, columns] divided by s[i], those from `rank` on set to 0. */
static void divide_rows(const nd4c_cpu_dense_job *job, int64_t rows, int64_t columns, int64_t rank, const double *s,
                        void *a) {
  for (int64_t j = 0; j < columns; j++) {
    for (int64_t i = 0; i < rows; i++) {
      if (job->dense->complex_numbers) {
        double complex *x = (double complex *)a + j * rows + i;
        *x = i < rank ? nd4c_complex_make(creal(*x) / s[i], cimag(*x) / s[i]) : 0;
      } else {
        double *x = (double *)a + j * rows + i;
        *x = i < rank ? *x / s[i] : 0;
      }
    }
  }
}

/* to [n, m] = a^H of [m, n]. */
static void adjoint(const nd4c_cpu_dense_job *job, int64_t m, int64_t n, const void *a, void *to) {
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i < m; i++) {
      if (job->dense->complex_numbers) {
        ((double complex *)to)[i * n + j] = conj(((const double complex *)a)[j * m + i]);
      } else {
        ((double *)to)[i * n + j] = ((const double *)a)[j * m + i];
      }
    }
  }
}

typedef struct factors {
  void *u, *vh; /* [m, least], [least, n] */
  double *s;
} factors;

/* info as svd; FINE with s NULL: the matrix is not finite. */
static int64_t factors_of(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space, factors *f) {
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index);
  f->u = nd4c_cpu_dense_take(job, space, ROOM_B, job->m * job->least);
  f->vh = nd4c_cpu_dense_take(job, space, ROOM_C, job->n * job->least);
  f->s = take_reals(space, ROOM_D, job->least);
  if (a == NULL || f->u == NULL || f->vh == NULL || f->s == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  if (!nd4c_cpu_dense_is_finite(job, job->m * job->n, a)) {
    f->s = NULL;
    return ND4C_DENSE_FINE;
  }
  return job->dense->svd(space, job->m, job->n, a, false, f->s, f->u, f->vh);
}

int64_t nd4c_cpu_dense_pinv(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  static const int32_t axes[] = {2};
  int64_t m = job->m, n = job->n, least = job->least;
  factors f;
  int64_t info = factors_of(job, index, space, &f);
  void *uh = nd4c_cpu_dense_take(job, space, ROOM_E, m * least), *y = nd4c_cpu_dense_take(job, space, ROOM_F, m * n);
  if (info != 0 || uh == NULL || y == NULL) {
    return info != 0 ? info : ND4C_DENSE_NO_MEMORY;
  }
  if (f.s == NULL) {
    return nd4c_cpu_dense_store_nan(job, space, index, axes);
  }
  adjoint(job, m, least, f.u, uh);
  divide_rows(job, least, m, rank_of(job, ND4C_REAL_OF(job->call, pinv_rtol), f.s), f.s, uh);
  job->dense->product(true, n, m, least, f.vh, uh, y);
  nd4c_cpu_dense_store(job, 0, 2, index, y);
  return ND4C_DENSE_FINE;
}

/* Sums of squares of the columns of a x - b. */
static void residuals_of(const nd4c_cpu_dense_job *job, int64_t k, const double *product, const double *b,
                         double *sums) {
  int64_t length = job->m * (job->dense->complex_numbers ? 2 : 1);
  for (int64_t j = 0; j < k; j++) {
    sums[j] = 0;
    for (int64_t i = 0; i < length; i++) {
      double difference = product[j * length + i] - b[j * length + i];
      sums[j] += difference * difference;
    }
  }
}

int64_t nd4c_cpu_dense_lstsq(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  const nd4c_tensor *right = &job->call->inputs[1];
  int32_t axes = right->rank == 1 ? 1 : 2;
  int64_t m = job->m, n = job->n, least = job->least, k = axes == 1 ? 1 : right->shape[right->rank - 1];
  factors f;
  int64_t info = factors_of(job, index, space, &f);
  void *b = nd4c_cpu_dense_load(job, space, ROOM_E, 1, axes, index);
  void *t = nd4c_cpu_dense_take(job, space, ROOM_F, (m > least ? m : least) * k);
  void *x = nd4c_cpu_dense_take(job, space, ROOM_G, n * k);
  double *sums = take_reals(space, ROOM_PIVOTS, k);
  if (info != 0 || b == NULL || t == NULL || x == NULL || sums == NULL) {
    return info != 0 ? info : ND4C_DENSE_NO_MEMORY;
  }
  if (f.s == NULL) {
    return nd4c_cpu_dense_store_nan(job, space, index, (const int32_t[]){axes, axes - 1, 0, 1});
  }
  double rank = (double)rank_of(job, ND4C_REAL_OF(job->call, lstsq_rtol), f.s);
  job->dense->product(true, least, k, m, f.u, b, t);
  divide_rows(job, least, k, (int64_t)rank, f.s, t);
  job->dense->product(true, n, k, least, f.vh, t, x);
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index);
  job->dense->product(false, m, k, n, a, x, t);
  residuals_of(job, k, t, b, sums);
  nd4c_cpu_dense_store(job, 0, axes, index, x);
  nd4c_cpu_dense_store_real(job, 1, axes - 1, index, sums);
  nd4c_cpu_dense_store_real(job, 2, 0, index, &rank);
  nd4c_cpu_dense_store_real(job, 3, 1, index, f.s);
  return ND4C_DENSE_FINE;
}

/* -- norms of matrices ------------------------------------------------------------------------------------------ */

static double larger(double a, double b) {
  return a != a || a > b ? a : b; /* NaN stays */
}

static double smaller(double a, double b) {
  return a != a || a < b ? a : b;
}

/* Largest or least sum of magnitudes over the columns (by_rows: the rows). */
static double extreme_sum(const nd4c_cpu_dense_job *job, const double *magnitudes, bool by_rows, bool largest) {
  int64_t outer = by_rows ? job->m : job->n, inner = by_rows ? job->n : job->m;
  int64_t outer_step = by_rows ? 1 : job->m, inner_step = by_rows ? job->m : 1;
  double result = 0;
  for (int64_t i = 0; i < outer; i++) {
    double sum = 0;
    for (int64_t j = 0; j < inner; j++) {
      sum += magnitudes[i * outer_step + j * inner_step];
    }
    result = i == 0 ? sum : largest ? larger(sum, result) : smaller(sum, result);
    if (result != result) {
      break;
    }
  }
  return result;
}

static double frobenius(int64_t count, const double *magnitudes) {
  double scale = 0, sum = 0;
  for (int64_t i = 0; i < count; i++) {
    scale = larger(magnitudes[i], scale);
  }
  if (scale == 0 || scale != scale || isinf(scale)) {
    for (int64_t i = 0; i < count; i++) {
      sum += magnitudes[i];
    }
    return sum;
  }
  for (int64_t i = 0; i < count; i++) {
    sum += magnitudes[i] / scale * (magnitudes[i] / scale);
  }
  return scale * sqrt(sum);
}

static double from_values(const nd4c_cpu_dense_job *job, int64_t ord, const double *s) {
  double sum = 0;
  if (job->least == 0) {
    return 0;
  }
  for (int64_t i = 0; i < job->least; i++) {
    sum += s[i];
  }
  return ord == ND4C_MATRIX_NORM_ORDER_NUCLEAR ? sum : ord == ND4C_MATRIX_NORM_ORDER_TWO ? s[0] : s[job->least - 1];
}

int64_t nd4c_cpu_dense_matrix_norm(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  const int64_t ord = ND4C_INT_OF(job->call, matrix_norm_ord);
  int32_t axes = ND4C_FLAG_OF(job->call, matrix_norm_keepdims) ? 2 : 0;
  int64_t count = job->m * job->n;
  double norm;
  if (nd4c_norm_is_spectral(ord)) {
    double *s;
    int64_t info = values_of(job, index, space, &s);
    if (info != 0) {
      return info;
    }
    norm = from_values(job, ord, s);
  } else {
    void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index);
    double *magnitudes = take_reals(space, ROOM_B, count);
    if (a == NULL || magnitudes == NULL) {
      return ND4C_DENSE_NO_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
      magnitudes[i] = job->dense->complex_numbers ? cabs(((double complex *)a)[i]) : fabs(((double *)a)[i]);
    }
    if (ord == ND4C_MATRIX_NORM_ORDER_FROBENIUS) {
      norm = frobenius(count, magnitudes);
    } else {
      norm = extreme_sum(job, magnitudes, nd4c_norm_is_by_rows(ord), !nd4c_norm_is_least(ord));
    }
  }
  nd4c_cpu_dense_store_real(job, 0, axes, index, &norm);
  return ND4C_DENSE_FINE;
}
