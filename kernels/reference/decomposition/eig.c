/* Eigenvalues of a general complex matrix: Hessenberg form, QR steps with Wilkinson's shift, back substitution.
 * backends/cpu/reference/decomposition.c calls it; eig_real.c shares its back substitution. */
#include "kernels/hypot.h"
#include "kernels/reference/decomposition/decomposition.h"

typedef double complex number;

enum { STEPS_EACH = 60 };

static double magnitude(number x) {
  return fabs(creal(x)) + fabs(cimag(x));
}

/* -- Hessenberg form -------------------------------------------------------------------------------------------- */

/* v, of length 1, such that I - 2 v v^H makes the column (beta, 0, ...); false if there is nothing to do. */
static bool reflector(int64_t n, const number *x, number *v) {
  double rest = 0, length;
  for (int64_t i = 1; i < n; i++) {
    rest = nd4c_hypot_f64(rest, cabs(x[i]));
  }
  if (rest == 0) {
    return false;
  }
  length = nd4c_hypot_f64(rest, cabs(x[0]));
  number phase = x[0] == 0 ? 1 : x[0] / cabs(x[0]);
  for (int64_t i = 0; i < n; i++) {
    v[i] = x[i];
  }
  v[0] += phase * length;
  double norm = nd4c_hypot_f64(rest, cabs(v[0]));
  for (int64_t i = 0; i < n; i++) {
    v[i] /= norm;
  }
  return true;
}

/* Rows [first, first + count) of the columns of a from `from` on, reflected. */
static void reflect_rows(int64_t n, number *a, int64_t from, int64_t first, int64_t count, const number *v) {
  for (int64_t j = from; j < n; j++) {
    number dot = 0, *column = a + j * n + first;
    for (int64_t i = 0; i < count; i++) {
      dot += conj(v[i]) * column[i];
    }
    for (int64_t i = 0; i < count; i++) {
      column[i] -= 2 * v[i] * dot;
    }
  }
}

static void reflect_columns(int64_t n, number *a, int64_t first, int64_t count, const number *v) {
  for (int64_t i = 0; i < n; i++) {
    number dot = 0;
    for (int64_t j = 0; j < count; j++) {
      dot += a[(first + j) * n + i] * v[j];
    }
    for (int64_t j = 0; j < count; j++) {
      a[(first + j) * n + i] -= 2 * dot * conj(v[j]);
    }
  }
}

static void hessenberg(int64_t n, number *a, number *z, number *v) {
  for (int64_t k = 0; k + 2 < n; k++) {
    int64_t count = n - k - 1;
    if (!reflector(count, a + k * n + k + 1, v)) {
      continue;
    }
    reflect_rows(n, a, k, k + 1, count, v);
    reflect_columns(n, a, k + 1, count, v);
    if (z != NULL) {
      reflect_columns(n, z, k + 1, count, v);
    }
    for (int64_t i = k + 2; i < n; i++) {
      a[k * n + i] = 0;
    }
  }
}

/* -- QR steps --------------------------------------------------------------------------------------------------- */

#define A(i, j) a[(j) * n + (i)]

/* The eigenvalue of the last 2 x 2 block that is nearer to its corner. */
static number wilkinson_shift(int64_t n, const number *a, int64_t high) {
  number p = A(high - 1, high - 1), q = A(high - 1, high), r = A(high, high - 1), s = A(high, high);
  number half = (p - s) / 2, root = csqrt(half * half + q * r);
  if (creal(half) * creal(root) + cimag(half) * cimag(root) < 0) {
    root = -root;
  }
  number divisor = half + root;
  return divisor == 0 ? s : s - q * r / divisor;
}

static void rotate_columns(int64_t n, number *a, int64_t k, int64_t rows, number c, number s) {
  for (int64_t i = 0; i < rows; i++) {
    number x = A(i, k), y = A(i, k + 1);
    A(i, k) = c * x + s * y;
    A(i, k + 1) = conj(c) * y - conj(s) * x;
  }
}

/* One implicit step on the block [low, high], all of a and z following. */
static void qr_step(int64_t n, number *a, number *z, int64_t low, int64_t high, number shift) {
  number x = A(low, low) - shift, y = A(low + 1, low);
  for (int64_t k = low; k < high; k++) {
    double length = nd4c_hypot_f64(cabs(x), cabs(y));
    number c = length == 0 ? 1 : x / length, s = length == 0 ? 0 : y / length;
    for (int64_t j = k > low ? k - 1 : low; j < n; j++) {
      number top = A(k, j), bottom = A(k + 1, j);
      A(k, j) = conj(c) * top + conj(s) * bottom;
      A(k + 1, j) = c * bottom - s * top;
    }
    rotate_columns(n, a, k, (k + 2 < high ? k + 2 : high) + 1, c, s);
    if (z != NULL) {
      rotate_columns(n, z, k, n, c, s);
    }
    if (k + 1 < high) {
      x = A(k + 1, k);
      y = A(k + 2, k);
    }
  }
}

/* Where the block that ends at `high` begins; subdiagonals that are nothing are set to 0. */
static int64_t block_begin(int64_t n, number *a, int64_t high, double norm) {
  int64_t low = high;
  while (low > 0) {
    double around = magnitude(A(low - 1, low - 1)) + magnitude(A(low, low));
    if (magnitude(A(low, low - 1)) <= 0x1p-53 * (around > 0 ? around : norm)) {
      A(low, low - 1) = 0;
      break;
    }
    low--;
  }
  return low;
}

static int64_t schur(int64_t n, number *a, number *z, double norm) {
  int64_t high = n - 1;
  int32_t steps = 0;
  while (high > 0) {
    int64_t low = block_begin(n, a, high, norm);
    if (low == high) {
      high--;
      steps = 0;
      continue;
    }
    if (++steps > STEPS_EACH) {
      return high + 1;
    }
    number shift = wilkinson_shift(n, a, high);
    if (steps % 10 == 0) { /* an unlucky cycle is left by another shift */
      shift = A(high, high) + 0.75 * magnitude(A(high, high - 1));
    }
    qr_step(n, a, z, low, high, shift);
  }
  return 0;
}

/* -- vectors ---------------------------------------------------------------------------------------------------- */

/* x of (T - T_kk) x = 0 with x_k = 1, kept within the range of doubles. */
static void triangular_vector(int64_t n, const number *a, int64_t k, double least, number *x) {
  x[k] = 1;
  for (int64_t i = k - 1; i >= 0; i--) {
    number sum = 0, divisor = A(i, i) - A(k, k);
    for (int64_t j = i + 1; j <= k; j++) {
      sum -= A(i, j) * x[j];
    }
    x[i] = sum / (magnitude(divisor) < least ? least : divisor);
    double size = magnitude(x[i]);
    for (int64_t j = i; j <= k && size > 0x1p500; j++) {
      x[j] /= size;
    }
  }
}

static void vectors_of(int64_t n, const number *a, const number *z, double norm, number *v, number *x) {
  double least = fmax(norm * 0x1p-53, 0x1p-1000);
  for (int64_t k = 0; k < n; k++) {
    double length = 0;
    triangular_vector(n, a, k, least, x);
    for (int64_t i = 0; i < n; i++) {
      number sum = 0;
      for (int64_t j = 0; j <= k; j++) {
        sum += z[j * n + i] * x[j];
      }
      v[k * n + i] = sum;
      length = nd4c_hypot_f64(length, cabs(sum));
    }
    for (int64_t i = 0; i < n; i++) {
      v[k * n + i] /= length;
    }
  }
}

void nd4c_dense_split_pair(int64_t n, double complex *a, double complex *z, int64_t k, double complex value) {
  number x = value - A(k + 1, k + 1), y = A(k + 1, k);
  double length = nd4c_hypot_f64(cabs(x), cabs(y));
  number c = x / length, s = y / length;
  for (int64_t j = k; j < n; j++) {
    number top = A(k, j), bottom = A(k + 1, j);
    A(k, j) = conj(c) * top + conj(s) * bottom;
    A(k + 1, j) = c * bottom - s * top;
  }
  rotate_columns(n, a, k, k + 2, c, s);
  if (z != NULL) {
    rotate_columns(n, z, k, n, c, s);
  }
  A(k + 1, k) = 0;
  A(k, k) = value;
  A(k + 1, k + 1) = conj(value);
}

void nd4c_dense_read_triangle(int64_t n, const double complex *a, const double complex *z, double scale,
                              double complex *w, double complex *v, double complex *vector) {
  for (int64_t i = 0; i < n; i++) {
    w[i] = A(i, i) * scale;
  }
  if (v != NULL) {
    vectors_of(n, a, z, 1, v, vector);
  }
}

int64_t nd4c_dense_complex_eig(int64_t n, double complex *a, double complex *w, double complex *v,
                               double complex *work) {
  number *z = v != NULL ? work : NULL, *vector = work + n * n;
  double scale = 0;
  for (int64_t i = 0; i < n * n; i++) {
    scale = fmax(scale, magnitude(a[i]));
  }
  for (int64_t i = 0; i < n * n; i++) {
    a[i] = scale > 0 ? a[i] / scale : 0;
    work[i] = i % (n + 1) == 0;
  }
  hessenberg(n, a, z, vector);
  int64_t info = schur(n, a, z, 1);
  nd4c_dense_read_triangle(n, a, z, scale, w, v, vector);
  return info;
}
