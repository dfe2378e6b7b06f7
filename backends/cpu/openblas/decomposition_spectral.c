/* Factors and eigenvalues through LAPACK. Real matrices of at least `BLOCKED` rows that are nearly square use LAPACK's
 * reductions to bidiagonal and tridiagonal form and its divide and conquer, and our own larger blocks of reflectors;
 * ?gesdd, ?syevd and ?orgqr do the same with smaller blocks. decomposition.c lists these functions among its
 * methods. */
#include "backends/cpu/openblas/decomposition_methods.h"

#include <string.h>

#include "backends/cpu/openblas/decomposition_reflectors.h"

enum { BLOCKED = 128 };

static const nd4c_lapack *lapack(void) {
  return &nd4c_openblas_get()->lapack;
}

/* A function of a precision. */
#define PICK(single, single_name, double_name) \
  ((single) ? lapack()->LAPACKE_##single_name##_work : lapack()->LAPACKE_##double_name##_work)
#define PICK_REAL(single, name) PICK(single, s##name, d##name)

static int64_t bytes_of(bool complex_numbers, bool single) {
  return (single ? 4 : 8) * (complex_numbers ? 2 : 1);
}

/* What a query for a workspace answered. */
static double answered(bool single, const void *answer) {
  return single ? (double)*(const float *)answer : *(const double *)answer;
}

void *nd4c_openblas_work(nd4c_cpu_space *space, double answer, int64_t bytes, int *count) {
  /* A float says up to 2^24 exactly. */
  double least = answer > 0x1p24 ? answer * (1 + 0x1p-20) : answer;
  *count = least < 1 ? 1 : (int)least;
  return nd4c_cpu_space_take(space, ND4C_ROOM_WORK, *count, bytes);
}

/* Whether squares and products of a matrix's numbers stay well in range: LAPACK scales others, so they are left to it.
 */
static bool in_range(bool single, int64_t count, const void *a) {
  enum { SIDE = 16 };
  double most[SIDE] = {0}, largest = 0, limit = single ? 0x1p38 : 0x1p400;
  for (int64_t i = 0; i < count; i += SIDE) {
    for (int64_t k = 0; k < SIDE && i + k < count; k++) {
      double x = fabs(single ? (double)((const float *)a)[i + k] : ((const double *)a)[i + k]);
      most[k] = x > most[k] ? x : most[k];
    }
  }
  for (int64_t k = 0; k < SIDE; k++) {
    largest = most[k] > largest ? most[k] : largest;
  }
  return largest < limit && largest > 1 / limit;
}

/* -- orthonormal and upper triangle ------------------------------------------------------------------------------- */

static int64_t blocked_qr(nd4c_cpu_space *space, bool single, int64_t m, int64_t n, void *a, int64_t columns, void *q,
                          void *tau, void *work, int count) {
  int64_t bytes = bytes_of(false, single), least = m < n ? m : n;
  int64_t info = nd4c_reflectors_qr(space, ND4C_ROOM_BLOCKS, single, (int)m, (int)n, a, tau, work, count);
  if (info != 0) {
    return info;
  }
  memset(q, 0, (size_t)(m * columns * bytes));
  for (int64_t i = 0; i < columns; i++) {
    if (single) {
      ((float *)q)[i * (m + 1)] = 1;
    } else {
      ((double *)q)[i * (m + 1)] = 1;
    }
  }
  const nd4c_reflectors all = {
      .single = single, .length = (int)m, .count = (int)least, .a = a, .tau = tau, .leading = (int)m};
  return nd4c_reflectors_times(space, ND4C_ROOM_BLOCKS, &all, (int)columns, q, true);
}

#define QR(t, prefix, form_q, part, is_complex, is_single)                                                        \
  int64_t nd4c_openblas_##t##_qr(nd4c_cpu_space *space, int64_t rows, int64_t all, void *a, int64_t columns,      \
                                 void *q) {                                                                       \
    const nd4c_lapack *l = lapack();                                                                              \
    int m = (int)rows, n = (int)all, wanted = (int)columns, least = m < n ? m : n, count = 0;                     \
    int64_t bytes = bytes_of(is_complex, is_single);                                                              \
    part answer[2] = {0}, other[2] = {0};                                                                         \
    void *tau = nd4c_cpu_space_take(space, ND4C_ROOM_TAU, least, bytes);                                          \
    l->LAPACKE_##prefix##geqrf_work(LAPACKE_BY_COLUMNS, m, n, a, m, tau, answer, -1);                             \
    l->LAPACKE_##prefix##form_q##_work(LAPACKE_BY_COLUMNS, m, wanted, least, q, m, tau, other, -1);               \
    void *work = nd4c_openblas_work(space, (double)(answer[0] > other[0] ? answer[0] : other[0]), bytes, &count); \
    if (tau == NULL || work == NULL) {                                                                            \
      return ND4C_DENSE_NO_MEMORY;                                                                                \
    }                                                                                                             \
    if (!(is_complex) && least >= BLOCKED) {                                                                      \
      return blocked_qr(space, is_single, rows, all, a, columns, q, tau, work, count);                            \
    }                                                                                                             \
    l->LAPACKE_##prefix##geqrf_work(LAPACKE_BY_COLUMNS, m, n, a, m, tau, work, count);                            \
    memset(q, 0, (size_t)(rows * columns * bytes));                                                               \
    memcpy(q, a, (size_t)(rows * (least < wanted ? least : wanted) * bytes));                                     \
    return l->LAPACKE_##prefix##form_q##_work(LAPACKE_BY_COLUMNS, m, wanted, least, q, m, tau, work, count);      \
  }
QR(real, d, orgqr, double, false, false)
QR(complex, z, ungqr, double, true, false)
QR(real_single, s, orgqr, float, false, true)
QR(complex_single, c, ungqr, float, true, true)

/* -- singular values ---------------------------------------------------------------------------------------------- */

typedef struct svd_call {
  bool complex_numbers, single;
  char job;
  int m, n, ldvt;
  void *a, *u, *vt, *s, *rwork;
  int *iwork;
} svd_call;

static int gesdd(const svd_call *c, void *work, int count) {
  return c->complex_numbers
             ? PICK(c->single, cgesdd, zgesdd)(LAPACKE_BY_COLUMNS, c->job, c->m, c->n, c->a, c->m, c->s, c->u, c->m,
                                               c->vt, c->ldvt, work, count, c->rwork, c->iwork)
             : PICK_REAL(c->single, gesdd)(LAPACKE_BY_COLUMNS, c->job, c->m, c->n, c->a, c->m, c->s, c->u, c->m, c->vt,
                                           c->ldvt, work, count, c->iwork);
}

static int64_t svd_by_lapack(nd4c_cpu_space *space, svd_call *c) {
  int64_t least = c->m < c->n ? c->m : c->n, most = c->m < c->n ? c->n : c->m;
  double answer[2] = {0};
  int count = 0;
  int64_t reals = 5 * least * least + 7 * least, mixed = 2 * most * least + 2 * least * least + least;
  c->rwork = nd4c_cpu_space_take(space, ND4C_ROOM_REAL, c->complex_numbers ? (reals > mixed ? reals : mixed) : 1,
                                 bytes_of(false, c->single));
  if (c->rwork == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  gesdd(c, answer, -1);
  void *work = nd4c_openblas_work(space, answered(c->single, answer), bytes_of(c->complex_numbers, c->single), &count);
  return work == NULL ? ND4C_DENSE_NO_MEMORY : gesdd(c, work, count);
}

/* Columns of a [rows, columns] whose first `made` rows and columns are made: 0 elsewhere, 1 on the diagonal. */
static void extend(bool single, int64_t rows, int64_t columns, int64_t made, void *a) {
  int64_t bytes = bytes_of(false, single);
  for (int64_t j = 0; j < columns; j++) {
    int64_t begin = j < made ? made : 0;
    memset((char *)a + (j * rows + begin) * bytes, 0, (size_t)((rows - begin) * bytes));
    if (j >= made && j < rows && single) {
      ((float *)a)[j * (rows + 1)] = 1;
    } else if (j >= made && j < rows) {
      ((double *)a)[j * (rows + 1)] = 1;
    }
  }
}

/* Bidiagonal form a = Q b P^T, b's vectors, those times Q and P. */
static int64_t svd_by_blocks(nd4c_cpu_space *space, const svd_call *c, int columns) {
  bool single = c->single, tall = c->m >= c->n;
  int m = c->m, n = c->n, least = tall ? n : m, count = 0;
  int64_t bytes = bytes_of(false, single), wide = least;
  double answer[2] = {0};
  char *tau = nd4c_cpu_space_take(space, ND4C_ROOM_TAU, 3 * wide, bytes);
  if (tau == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  char *tau_p = tau + wide * bytes, *e = tau + 2 * wide * bytes;
  PICK_REAL(single, gebrd)(LAPACKE_BY_COLUMNS, m, n, c->a, m, c->s, e, tau, tau_p, answer, -1);
  double reduction = answered(single, answer),
         conquest = (double)(c->u == NULL ? 4 * wide : 3 * wide * wide + 4 * wide);
  void *work = nd4c_openblas_work(space, reduction > conquest ? reduction : conquest, bytes, &count);
  if (work == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  PICK_REAL(single, gebrd)(LAPACKE_BY_COLUMNS, m, n, c->a, m, c->s, e, tau, tau_p, work, count);
  char form = tall ? 'U' : 'L';
  if (c->job == 'N') {
    return PICK_REAL(single, bdsdc)(LAPACKE_BY_COLUMNS, form, 'N', least, c->s, e, NULL, 1, NULL, 1, NULL, NULL, work,
                                    c->iwork);
  }
  int info = PICK_REAL(single, bdsdc)(LAPACKE_BY_COLUMNS, form, 'I', least, c->s, e, c->u, m, c->vt, c->ldvt, NULL,
                                      NULL, work, c->iwork);
  extend(single, m, columns, least, c->u);
  extend(single, c->ldvt, n, least, c->vt);
  const nd4c_reflectors q = {.single = single,
                             .length = m,
                             .count = tall ? n : m - 1,
                             .shift = tall ? 0 : 1,
                             .a = c->a,
                             .tau = tau,
                             .leading = m};
  const nd4c_reflectors p = {.single = single,
                             .by_rows = true,
                             .length = n,
                             .count = tall ? n - 1 : m,
                             .shift = tall ? 1 : 0,
                             .a = c->a,
                             .tau = tau_p,
                             .leading = m};
  int64_t outcome = nd4c_reflectors_times(space, ND4C_ROOM_BLOCKS, &q, columns, c->u, false);
  outcome = outcome != 0 ? outcome : nd4c_reflectors_times_right(space, ND4C_ROOM_BLOCKS, &p, c->ldvt, c->vt);
  return outcome != 0 ? outcome : info;
}

static int64_t svd(bool complex_numbers, bool single, nd4c_cpu_space *space, int64_t m, int64_t n, void *a, bool full,
                   void *s, void *u, void *vh) {
  int64_t least = m < n ? m : n, most = m < n ? n : m;
  double nothing[2] = {0};
  svd_call c = {complex_numbers,
                single,
                u == NULL ? 'N'
                : full    ? 'A'
                          : 'S',
                (int)m,
                (int)n,
                (int)(full ? n : least),
                a,
                u,
                vh,
                s,
                NULL,
                NULL};
  c.iwork = nd4c_cpu_space_take(space, ND4C_ROOM_WHOLE, 8 * least, sizeof(int));
  if (c.iwork == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  /* For longer matrices LAPACK's ?gesdd is better: it begins with a QR. */
  if (!complex_numbers && least >= BLOCKED && 2 * most <= 3 * least && in_range(single, m * n, a)) {
    return svd_by_blocks(space, &c, (int)(full ? m : least));
  }
  if (u == NULL) {
    c.u = c.vt = nothing;
  }
  return svd_by_lapack(space, &c);
}

/* -- eigenvalues of Hermitian matrices ---------------------------------------------------------------------------- */

static int64_t eigh_by_lapack(bool single, nd4c_cpu_space *space, int64_t order, void *a, void *w, void *v) {
  int n = (int)order, count = 0, whole = 0;
  char job = v != NULL ? 'V' : 'N';
  double answer[2] = {0};
  PICK_REAL(single, syevd)(LAPACKE_BY_COLUMNS, job, 'L', n, a, n, w, answer, -1, &whole, -1);
  int *iwork = nd4c_cpu_space_take(space, ND4C_ROOM_WHOLE, whole, sizeof *iwork);
  void *work = nd4c_openblas_work(space, answered(single, answer), bytes_of(false, single), &count);
  if (iwork == NULL || work == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  int info = PICK_REAL(single, syevd)(LAPACKE_BY_COLUMNS, job, 'L', n, a, n, w, work, count, iwork, whole);
  if (v != NULL) {
    memcpy(v, a, (size_t)(order * order * bytes_of(false, single)));
  }
  return info;
}

/* Tridiagonal form a = Q t Q^T, t's vectors, those times Q. */
static int64_t eigh_by_blocks(bool single, nd4c_cpu_space *space, int64_t order, void *a, void *w, void *v) {
  int n = (int)order, count = 0, whole = 0;
  int64_t bytes = bytes_of(false, single);
  double reduction[2] = {0}, conquest[2] = {0};
  char *tau = nd4c_cpu_space_take(space, ND4C_ROOM_TAU, 2 * order, bytes), *e = NULL;
  if (tau == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  e = tau + order * bytes;
  PICK_REAL(single, sytrd)(LAPACKE_BY_COLUMNS, 'L', n, a, n, w, e, tau, reduction, -1);
  PICK_REAL(single, stedc)(LAPACKE_BY_COLUMNS, 'I', n, w, e, v, n, conquest, -1, &whole, -1);
  double first = answered(single, reduction), second = answered(single, conquest);
  int *iwork = nd4c_cpu_space_take(space, ND4C_ROOM_WHOLE, whole, sizeof *iwork);
  void *work = nd4c_openblas_work(space, first > second ? first : second, bytes, &count);
  if (iwork == NULL || work == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  PICK_REAL(single, sytrd)(LAPACKE_BY_COLUMNS, 'L', n, a, n, w, e, tau, work, count);
  int info = PICK_REAL(single, stedc)(LAPACKE_BY_COLUMNS, 'I', n, w, e, v, n, work, count, iwork, whole);
  const nd4c_reflectors q = {
      .single = single, .length = n, .count = n - 1, .shift = 1, .a = a, .tau = tau, .leading = n};
  int64_t outcome = nd4c_reflectors_times(space, ND4C_ROOM_BLOCKS, &q, n, v, false);
  return outcome != 0 ? outcome : info;
}

static int64_t symmetric(bool single, nd4c_cpu_space *space, int64_t n, void *a, void *w, void *v) {
  bool blocked = v != NULL && n >= BLOCKED && in_range(single, n * n, a);
  return blocked ? eigh_by_blocks(single, space, n, a, w, v) : eigh_by_lapack(single, space, n, a, w, v);
}

static int64_t hermitian(bool single, nd4c_cpu_space *space, int64_t order, void *a, void *w, void *v) {
  int n = (int)order, count = 0, whole = 0;
  char job = v != NULL ? 'V' : 'N';
  double answer[2] = {0}, reals[2] = {0};
  PICK(single, cheevd, zheevd)
  (LAPACKE_BY_COLUMNS, job, 'L', n, a, n, w, answer, -1, reals, -1, &whole, -1);
  int real_count = (int)(answered(single, reals) * (1 + 0x1p-20));
  int *iwork = nd4c_cpu_space_take(space, ND4C_ROOM_WHOLE, whole, sizeof *iwork);
  void *rwork = nd4c_cpu_space_take(space, ND4C_ROOM_REAL, real_count, bytes_of(false, single));
  void *work = nd4c_openblas_work(space, answered(single, answer), bytes_of(true, single), &count);
  if (iwork == NULL || rwork == NULL || work == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  int info = PICK(single, cheevd, zheevd)(LAPACKE_BY_COLUMNS, job, 'L', n, a, n, w, work, count, rwork, real_count,
                                          iwork, whole);
  if (v != NULL) {
    memcpy(v, a, (size_t)(order * order * bytes_of(true, single)));
  }
  return info;
}

#define SPECTRAL(t, is_complex, is_single, eigenvalues)                                                              \
  int64_t nd4c_openblas_##t##_svd(nd4c_cpu_space *space, int64_t m, int64_t n, void *a, bool full, void *s, void *u, \
                                  void *vh) {                                                                        \
    return svd(is_complex, is_single, space, m, n, a, full, s, u, vh);                                               \
  }                                                                                                                  \
  int64_t nd4c_openblas_##t##_eigh(nd4c_cpu_space *space, int64_t n, void *a, void *w, void *v) {                    \
    return eigenvalues(is_single, space, n, a, w, v);                                                                \
  }
SPECTRAL(real, false, false, symmetric)
SPECTRAL(complex, true, false, hermitian)
SPECTRAL(real_single, false, true, symmetric)
SPECTRAL(complex_single, true, true, hermitian)

/* -- eigenvalues of general matrices ------------------------------------------------------------------------------ */

/* Of a conjugate pair of eigenvalues, LAPACK stores one vector: its real part in one column, its imaginary part in the
 * next. */
static void unpack(int64_t n, const double *wr, const double *wi, const double *vr, double complex *w,
                   double complex *v) {
  for (int64_t j = 0; j < n; j++) {
    w[j] = nd4c_complex_make(wr[j], wi[j]);
    const double *real = vr + (wi[j] < 0 ? j - 1 : j) * n, *imaginary = real + n;
    for (int64_t i = 0; v != NULL && i < n; i++) {
      v[j * n + i] = wi[j] == 0 ? nd4c_complex_make(real[i], 0)
                                : nd4c_complex_make(real[i], wi[j] < 0 ? -imaginary[i] : imaginary[i]);
    }
  }
}

int64_t nd4c_openblas_real_eig(nd4c_cpu_space *space, int64_t order, void *a, double complex *w, double complex *v) {
  int n = (int)order, count = 0;
  char job = v != NULL ? 'V' : 'N';
  double answer[2] = {0}, nothing = 0;
  double *parts = nd4c_cpu_space_take(space, ND4C_ROOM_REAL, 2 * order, sizeof *parts);
  double *vr = nd4c_cpu_space_take(space, ND4C_ROOM_VECTORS, v != NULL ? order * order : 1, sizeof *vr);
  if (parts == NULL || vr == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  lapack()->LAPACKE_dgeev_work(LAPACKE_BY_COLUMNS, 'N', job, n, a, n, parts, parts + n, &nothing, 1, vr, n, answer, -1);
  void *work = nd4c_openblas_work(space, answer[0], 8, &count);
  if (work == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  int info = lapack()->LAPACKE_dgeev_work(LAPACKE_BY_COLUMNS, 'N', job, n, a, n, parts, parts + n, &nothing, 1, vr, n,
                                          work, count);
  unpack(order, parts, parts + order, vr, w, v);
  return info;
}

int64_t nd4c_openblas_complex_eig(nd4c_cpu_space *space, int64_t order, void *a, double complex *w, double complex *v) {
  int n = (int)order, count = 0;
  char job = v != NULL ? 'V' : 'N';
  double answer[2] = {0}, nothing[2] = {0};
  void *vr = v != NULL ? (void *)v : nothing;
  double *rwork = nd4c_cpu_space_take(space, ND4C_ROOM_REAL, 2 * order, sizeof *rwork);
  if (rwork == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  lapack()->LAPACKE_zgeev_work(LAPACKE_BY_COLUMNS, 'N', job, n, a, n, w, nothing, 1, vr, n, answer, -1, rwork);
  void *work = nd4c_openblas_work(space, answer[0], 16, &count);
  if (work == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  return lapack()->LAPACKE_zgeev_work(LAPACKE_BY_COLUMNS, 'N', job, n, a, n, w, nothing, 1, vr, n, work, count, rwork);
}
