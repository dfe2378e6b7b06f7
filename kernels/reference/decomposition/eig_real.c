/* Eigenvalues of a general real matrix: Hessenberg form, Francis's double steps, squares of conjugate pairs split last.
 * All numbers are real until then, so real eigenvalues have no imaginary part. backends/cpu/reference/decomposition.c
 * calls this. */
#include "kernels/hypot.h"
#include "kernels/reference/decomposition/decomposition.h"

enum { STEPS_EACH = 60 };

#define A(i, j) a[(j) * n + (i)]

/* -- reflections of two or three neighbours ------------------------------------------------------------------------ */

/* I - (1, q, r) (x, y, z)^T, which makes a vector (beta, 0, 0). */
typedef struct reflection {
  double x, y, z, q, r, beta;
} reflection;

static bool make_reflection(double p, double q, double r, reflection *f) {
  double scale = fabs(p) + fabs(q) + fabs(r);
  if (scale == 0) {
    return false;
  }
  p /= scale, q /= scale, r /= scale;
  double length = copysign(sqrt(p * p + q * q + r * r), p);
  p += length;
  *f = (reflection){p / length, q / length, r / length, q / p, r / p, -length * scale};
  return true;
}

static void reflect_rows(int64_t n, double *a, int64_t k, bool three, int64_t from, const reflection *f) {
  for (int64_t j = from; j < n; j++) {
    double t = A(k, j) + f->q * A(k + 1, j) + (three ? f->r * A(k + 2, j) : 0);
    A(k, j) -= t * f->x;
    A(k + 1, j) -= t * f->y;
    if (three) {
      A(k + 2, j) -= t * f->z;
    }
  }
}

static void reflect_columns(int64_t n, double *a, int64_t k, bool three, int64_t rows, const reflection *f) {
  for (int64_t i = 0; i < rows; i++) {
    double t = f->x * A(i, k) + f->y * A(i, k + 1) + (three ? f->z * A(i, k + 2) : 0);
    A(i, k) -= t;
    A(i, k + 1) -= t * f->q;
    if (three) {
      A(i, k + 2) -= t * f->r;
    }
  }
}

/* -- Hessenberg form ----------------------------------------------------------------------------------------------- */

/* Householder's vector of a column below its diagonal, of length 1; false if nothing is below. */
static bool reflector(int64_t count, const double *x, double *v) {
  double rest = 0;
  for (int64_t i = 1; i < count; i++) {
    rest = nd4c_hypot_f64(rest, x[i]);
  }
  if (rest == 0) {
    return false;
  }
  double first = x[0] + copysign(nd4c_hypot_f64(rest, x[0]), x[0]), length = nd4c_hypot_f64(rest, first);
  for (int64_t i = 0; i < count; i++) {
    v[i] = (i == 0 ? first : x[i]) / length;
  }
  return true;
}

static void fold_columns(int64_t n, double *a, int64_t first, int64_t count, const double *v) {
  for (int64_t i = 0; i < n; i++) {
    double dot = 0;
    for (int64_t j = 0; j < count; j++) {
      dot += A(i, first + j) * v[j];
    }
    for (int64_t j = 0; j < count; j++) {
      A(i, first + j) -= 2 * dot * v[j];
    }
  }
}

static void hessenberg(int64_t n, double *a, double *z, double *v) {
  for (int64_t k = 0; k + 2 < n; k++) {
    int64_t count = n - k - 1;
    if (!reflector(count, &A(k + 1, k), v)) {
      continue;
    }
    for (int64_t j = k; j < n; j++) {
      double dot = 0;
      for (int64_t i = 0; i < count; i++) {
        dot += v[i] * A(k + 1 + i, j);
      }
      for (int64_t i = 0; i < count; i++) {
        A(k + 1 + i, j) -= 2 * dot * v[i];
      }
    }
    fold_columns(n, a, k + 1, count, v);
    fold_columns(n, z, k + 1, count, v);
    for (int64_t i = k + 2; i < n; i++) {
      A(i, k) = 0;
    }
  }
}

/* -- double steps -------------------------------------------------------------------------------------------------- */

/* Sum and product of the shifts as EISPACK's hqr has them: two numbers of the diagonal, a product beside it. */
typedef struct shifts {
  double last, before, product;
} shifts;

static shifts choose_shifts(int64_t n, const double *a, int64_t high, int32_t steps) {
  if (steps % 10 != 0) {
    return (shifts){A(high, high), A(high - 1, high - 1), A(high, high - 1) * A(high - 1, high)};
  }
  /* An unlucky cycle is left by other shifts. */
  double size = fabs(A(high, high - 1)) + fabs(A(high - 1, high - 2)), both = A(high, high) + 0.75 * size;
  return (shifts){both, both, -0.4375 * size * size};
}

static void double_step(int64_t n, double *a, double *z, int64_t low, int64_t high, shifts s) {
  double corner = A(low, low), r = s.last - corner, t = s.before - corner;
  double p = (r * t - s.product) / A(low + 1, low) + A(low, low + 1), q = A(low + 1, low + 1) - corner - r - t;
  r = A(low + 2, low + 1);
  for (int64_t k = low; k < high; k++) {
    reflection f;
    bool three = k + 2 <= high;
    if (k > low) {
      p = A(k, k - 1), q = A(k + 1, k - 1), r = three ? A(k + 2, k - 1) : 0;
    }
    if (!make_reflection(p, q, r, &f)) {
      continue;
    }
    if (k > low) {
      A(k, k - 1) = f.beta;
      A(k + 1, k - 1) = 0;
      if (three) {
        A(k + 2, k - 1) = 0;
      }
    }
    reflect_rows(n, a, k, three, k, &f);
    reflect_columns(n, a, k, three, (k + 3 < high ? k + 3 : high) + 1, &f);
    reflect_columns(n, z, k, three, n, &f);
  }
}

/* Where the block that ends at `high` begins; subdiagonals that are nothing are set to 0. */
static int64_t block_begin(int64_t n, double *a, int64_t high) {
  int64_t low = high;
  while (low > 0) {
    double around = fabs(A(low - 1, low - 1)) + fabs(A(low, low));
    if (fabs(A(low, low - 1)) <= 0x1p-53 * (around > 0 ? around : 1)) {
      A(low, low - 1) = 0;
      break;
    }
    low--;
  }
  return low;
}

/* The square at (k, k): real eigenvalues are turned to its diagonal; true if they are a pair instead. */
static bool is_pair(int64_t n, double *a, double *z, int64_t k, double complex *value) {
  double half = (A(k, k) - A(k + 1, k + 1)) / 2, beside = A(k, k + 1) * A(k + 1, k);
  double under = half * half + beside, last = A(k + 1, k + 1);
  if (under < 0) {
    *value = nd4c_complex_make(last + half, sqrt(-under));
    return true;
  }
  double root = half + copysign(sqrt(under), half), length = nd4c_hypot_f64(A(k + 1, k), root);
  double s = A(k + 1, k) / length, c = root / length;
  for (int64_t j = k; j < n; j++) {
    double top = A(k, j), bottom = A(k + 1, j);
    A(k, j) = c * top + s * bottom;
    A(k + 1, j) = c * bottom - s * top;
  }
  for (int64_t i = 0; i < n; i++) {
    double left = A(i, k), right = A(i, k + 1), z_left = z[k * n + i], z_right = z[(k + 1) * n + i];
    if (i < k + 2) {
      A(i, k) = c * left + s * right;
      A(i, k + 1) = c * right - s * left;
    }
    z[k * n + i] = c * z_left + s * z_right;
    z[(k + 1) * n + i] = c * z_right - s * z_left;
  }
  A(k + 1, k) = 0;
  A(k, k) = last + root;
  A(k + 1, k + 1) = root != 0 ? last - beside / root : last;
  return false;
}

/* Triangular but for squares of pairs. */
static int64_t schur(int64_t n, double *a, double *z) {
  int64_t high = n - 1;
  int32_t steps = 0;
  while (high > 0) {
    int64_t low = block_begin(n, a, high);
    double complex value;
    if (low < high - 1) {
      if (++steps > STEPS_EACH) {
        return high + 1;
      }
      double_step(n, a, z, low, high, choose_shifts(n, a, high, steps));
      continue;
    }
    if (low == high - 1) {
      (void)is_pair(n, a, z, low, &value);
    }
    high = low - 1;
    steps = 0;
  }
  return 0;
}

/* -- the whole ----------------------------------------------------------------------------------------------------- */

/* Vectors of real eigenvalues are real, those of conjugates conjugates: what rounding added is taken away. */
static void clean_vectors(int64_t n, const double complex *w, double complex *v) {
  for (int64_t k = 0; k < n; k++) {
    bool second = cimag(w[k]) < 0;
    for (int64_t i = 0; i < n; i++) {
      double complex *x = &v[k * n + i];
      *x = cimag(w[k]) == 0 ? nd4c_complex_make(creal(*x), 0) : second ? conj(v[(k - 1) * n + i]) : *x;
    }
  }
}

int64_t nd4c_dense_real_eig(int64_t n, double *a, double complex *w, double complex *v, double complex *work) {
  double complex *turned = work, *vector = work + n * n, *t = vector + n;
  double *z = (double *)(t + n * n), scale = 0;
  for (int64_t i = 0; i < n * n; i++) {
    scale = fmax(scale, fabs(a[i]));
  }
  for (int64_t i = 0; i < n * n; i++) {
    a[i] = scale > 0 ? a[i] / scale : 0;
    z[i] = i % (n + 1) == 0;
  }
  hessenberg(n, a, z, (double *)vector);
  int64_t info = schur(n, a, z);
  for (int64_t i = 0; i < n * n; i++) {
    t[i] = a[i];
    turned[i] = z[i];
  }
  for (int64_t k = 0; k + 1 < n; k++) {
    double complex value;
    if (A(k + 1, k) != 0 && info == 0 && is_pair(n, a, z, k, &value)) {
      nd4c_dense_split_pair(n, t, turned, k, value);
    }
  }
  nd4c_dense_read_triangle(n, t, turned, scale, w, v, vector);
  if (v != NULL) {
    clean_vectors(n, w, v);
  }
  return info;
}
