/* The bodies of the algorithms for one kind of number. real.c and complex.c include it once each (hence no include
 * guard) and define number, NAME(f) and the macros of arithmetic: MUL, CONJ, REAL, ABS, ABS1 (a cheap magnitude) and
 * SQUARE (of the magnitude). backends/cpu/reference/decomposition.c calls the functions. */

static const double epsilon = 0x1p-52;

int64_t NAME(cholesky)(int64_t n, number *a) {
  for (int64_t j = 0; j < n; j++) {
    number *column = a + j * n;
    for (int64_t k = 0; k < j; k++) {
      const number *left = a + k * n;
      number factor = CONJ(left[j]);
      for (int64_t i = j; i < n; i++) {
        column[i] -= MUL(left[i], factor);
      }
    }
    double pivot = REAL(column[j]);
    if (!(pivot > 0)) {
      return j + 1;
    }
    pivot = sqrt(pivot);
    column[j] = pivot;
    for (int64_t i = j + 1; i < n; i++) {
      column[i] /= pivot;
    }
  }
  return 0;
}

static int64_t largest_below(int64_t m, const number *column, int64_t k) {
  int64_t best = k;
  for (int64_t i = k + 1; i < m; i++) {
    best = ABS1(column[i]) > ABS1(column[best]) ? i : best;
  }
  return best;
}

static void exchange_rows(int64_t m, int64_t n, number *a, int64_t i, int64_t j) {
  for (int64_t k = 0; k < n && i != j; k++) {
    number kept = a[k * m + i];
    a[k * m + i] = a[k * m + j];
    a[k * m + j] = kept;
  }
}

int64_t NAME(lu)(int64_t m, int64_t n, number *a, int64_t *pivots) {
  int64_t info = 0, steps = m < n ? m : n;
  for (int64_t k = 0; k < steps; k++) {
    number *column = a + k * m;
    pivots[k] = largest_below(m, column, k);
    exchange_rows(m, n, a, k, pivots[k]);
    if (column[k] == 0) {
      info = info == 0 ? k + 1 : info;
      continue;
    }
    for (int64_t i = k + 1; i < m; i++) {
      column[i] /= column[k];
    }
    for (int64_t j = k + 1; j < n; j++) {
      number *other = a + j * m, factor = other[k];
      for (int64_t i = k + 1; i < m; i++) {
        other[i] -= MUL(column[i], factor);
      }
    }
  }
  return info;
}

/* One right-hand side. With the matrix itself, a solved unknown is taken out of the others; with its adjoint, the
 * others are taken out of it: both read columns. */
static void triangular_one(bool upper, bool adjoint, bool unit, int64_t n, const number *a, number *b) {
  bool backwards = upper != adjoint;
  for (int64_t step = 0; step < n; step++) {
    int64_t k = backwards ? n - 1 - step : step;
    const number *column = a + k * n;
    int64_t begin = upper ? 0 : k + 1, end = upper ? k : n;
    number x = b[k];
    for (int64_t i = begin; adjoint && i < end; i++) {
      x -= MUL(CONJ(column[i]), b[i]);
    }
    if (!unit) {
      x /= adjoint ? CONJ(column[k]) : column[k];
    }
    b[k] = x;
    for (int64_t i = begin; !adjoint && i < end; i++) {
      b[i] -= MUL(column[i], x);
    }
  }
}

void NAME(triangular)(bool upper, bool adjoint, bool unit, int64_t n, int64_t k, const number *a, number *b) {
  for (int64_t j = 0; j < k; j++) {
    triangular_one(upper, adjoint, unit, n, a, b + j * n);
  }
}

/* Length of a vector, without overflow on the way. */
static double length_of(int64_t n, const number *x) {
  double scale = 0, sum = 0;
  for (int64_t i = 0; i < n; i++) {
    scale = fmax(scale, ABS1(x[i]));
  }
  for (int64_t i = 0; i < n && scale > 0; i++) {
    sum += SQUARE(x[i] / scale);
  }
  return scale * sqrt(sum);
}

/* H = I - tau v v^H with v[0] = 1 that makes x (beta, 0, ..., 0), beta real; the rest of v is left in x. */
static number householder(int64_t n, number *x) {
  double rest = length_of(n - 1, x + 1), length = length_of(n, x);
  if (rest == 0 && REAL(x[0]) == x[0]) {
    return 0;
  }
  double beta = REAL(x[0]) < 0 ? length : -length;
  number tau = (beta - x[0]) / beta, divisor = x[0] - beta;
  for (int64_t i = 1; i < n; i++) {
    x[i] /= divisor;
  }
  x[0] = beta;
  return CONJ(tau);
}

/* y -= tau v (v^H y), v[0] = 1. */
static void reflect(int64_t n, const number *v, number tau, number *y) {
  number dot = y[0];
  for (int64_t i = 1; i < n; i++) {
    dot += MUL(CONJ(v[i]), y[i]);
  }
  dot = MUL(tau, dot);
  y[0] -= dot;
  for (int64_t i = 1; i < n; i++) {
    y[i] -= MUL(v[i], dot);
  }
}

/* Q = H_0 H_1 ... applied to the first columns of the identity. */
static void form_q(int64_t m, int64_t steps, const number *a, const number *taus, int64_t columns, number *q) {
  for (int64_t j = 0; j < columns; j++) {
    number *column = q + j * m;
    for (int64_t i = 0; i < m; i++) {
      column[i] = i == j;
    }
    for (int64_t k = (steps < j + 1 ? steps : j + 1) - 1; k >= 0; k--) {
      reflect(m - k, a + k * m + k, CONJ(taus[k]), column + k);
    }
  }
}

void NAME(qr)(int64_t m, int64_t n, number *a, int64_t columns, number *q, number *work) {
  int64_t steps = m < n ? m : n;
  for (int64_t k = 0; k < steps; k++) {
    number *v = a + k * m + k;
    work[k] = householder(m - k, v);
    for (int64_t j = k + 1; j < n; j++) {
      reflect(m - k, v, work[k], a + j * m + k);
    }
  }
  form_q(m, steps, a, work, columns, q);
}

/* -- Jacobi's method -------------------------------------------------------------------------------------------- */

/* J = [c, s; -s conj(e), c conj(e)] that makes J^H [a, r; conj(r), b] J diagonal. */
typedef struct rotation {
  double c, s;
  number e;
} rotation;

static rotation rotation_of(double a, double b, number r) {
  double magnitude = ABS(r), theta = (b - a) / (2 * magnitude);
  double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
  double c = 1 / sqrt(t * t + 1);
  return (rotation){.c = c, .s = t * c, .e = r / magnitude};
}

/* Columns x and y times J. */
static void rotate(rotation j, int64_t n, number *x, number *y) {
  number s = j.s * CONJ(j.e), c = j.c * CONJ(j.e);
  for (int64_t i = 0; i < n; i++) {
    number was = x[i];
    x[i] = j.c * was - MUL(s, y[i]);
    y[i] = j.s * was + MUL(c, y[i]);
  }
}

/* Rows p and q of a, J^H from the left. */
static void rotate_rows(rotation j, int64_t n, number *a, int64_t p, int64_t q) {
  number s = j.s * j.e, c = j.c * j.e;
  for (int64_t i = 0; i < n; i++) {
    number was = a[i * n + p];
    a[i * n + p] = j.c * was - MUL(s, a[i * n + q]);
    a[i * n + q] = j.s * was + MUL(c, a[i * n + q]);
  }
}

static void set_identity(int64_t n, number *v) {
  for (int64_t i = 0; i < n * n; i++) {
    v[i] = i % (n + 1) == 0;
  }
}

/* Columns (and what belongs to them) in the order of their keys, by selection. */
static void order_columns(int64_t m, int64_t n, int64_t other_rows, bool descending, double *keys, number *a,
                          number *other) {
  for (int64_t k = 0; k < n; k++) {
    int64_t best = k;
    for (int64_t j = k + 1; j < n; j++) {
      best = (descending ? keys[j] > keys[best] : keys[j] < keys[best]) ? j : best;
    }
    double key = keys[k];
    keys[k] = keys[best];
    keys[best] = key;
    for (int64_t i = 0; i < m && a != NULL && best != k; i++) {
      number kept = a[k * m + i];
      a[k * m + i] = a[best * m + i];
      a[best * m + i] = kept;
    }
    for (int64_t i = 0; i < other_rows && other != NULL && best != k; i++) {
      number kept = other[k * other_rows + i];
      other[k * other_rows + i] = other[best * other_rows + i];
      other[best * other_rows + i] = kept;
    }
  }
}

enum { SWEEPS = 64 };

static bool sweep_hermitian(int64_t n, number *a, number *v, double tiny) {
  bool changed = false;
  for (int64_t p = 0; p < n; p++) {
    for (int64_t q = p + 1; q < n; q++) {
      number r = a[q * n + p];
      if (ABS(r) <= tiny || ABS(r) <= 0.25 * epsilon * sqrt(fabs(REAL(a[p * n + p]) * REAL(a[q * n + q])))) {
        continue;
      }
      rotation j = rotation_of(REAL(a[p * n + p]), REAL(a[q * n + q]), r);
      rotate(j, n, a + p * n, a + q * n);
      rotate_rows(j, n, a, p, q);
      a[q * n + p] = a[p * n + q] = 0;
      a[p * n + p] = REAL(a[p * n + p]);
      a[q * n + q] = REAL(a[q * n + q]);
      if (v != NULL) {
        rotate(j, n, v + p * n, v + q * n);
      }
      changed = true;
    }
  }
  return changed;
}

int64_t NAME(eigh)(int64_t n, number *a, double *w, number *v) {
  double scale = 0;
  for (int64_t j = 0; j < n; j++) {
    a[j * n + j] = REAL(a[j * n + j]);
    for (int64_t i = j; i < n; i++) {
      scale = fmax(scale, ABS1(a[j * n + i]));
    }
  }
  scale = scale > 0 ? scale : 1;
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = j; i < n; i++) {
      a[j * n + i] /= scale;
      a[i * n + j] = CONJ(a[j * n + i]);
    }
  }
  if (v != NULL) {
    set_identity(n, v);
  }
  int64_t info = 1;
  for (int32_t sweep = 0; sweep < SWEEPS && info != 0; sweep++) {
    info = sweep_hermitian(n, a, v, 0x1p-60);
  }
  for (int64_t i = 0; i < n; i++) {
    w[i] = REAL(a[i * n + i]) * scale;
  }
  order_columns(n, n, 0, false, w, v, NULL);
  return info;
}

/* One round over all pairs of columns of a, making them orthogonal. Columns of a square length up to `noise` are
 * nothing but rounding, which would be turned for ever. */
static bool sweep_columns(int64_t m, int64_t n, double noise, number *a, number *v) {
  bool changed = false;
  double tolerance = epsilon * fmax(4, sqrt((double)m)); /* sums of m products are not more precise */
  for (int64_t p = 0; p < n; p++) {
    for (int64_t q = p + 1; q < n; q++) {
      const number *x = a + p * m, *y = a + q * m;
      double xx = 0, yy = 0;
      number xy = 0;
      for (int64_t i = 0; i < m; i++) {
        xx += SQUARE(x[i]);
        yy += SQUARE(y[i]);
        xy += MUL(CONJ(x[i]), y[i]);
      }
      if (ABS(xy) <= tolerance * sqrt(xx * yy) || fmin(xx, yy) <= noise) {
        continue;
      }
      rotation j = rotation_of(xx, yy, xy);
      rotate(j, m, a + p * m, a + q * m);
      if (v != NULL) {
        rotate(j, n, v + p * n, v + q * n);
      }
      changed = true;
    }
  }
  return changed;
}

/* Columns of u from `known` on: orthonormal to the ones before. */
static void complete_columns(int64_t m, int64_t known, int64_t columns, number *u, number *copy, number *taus) {
  for (int64_t i = 0; i < m * known; i++) {
    copy[i] = u[i];
  }
  for (int64_t k = 0; k < known; k++) {
    taus[k] = householder(m - k, copy + k * m + k);
    for (int64_t j = k + 1; j < known; j++) {
      reflect(m - k, copy + k * m + k, taus[k], copy + j * m + k);
    }
  }
  for (int64_t j = known; j < columns; j++) {
    number *column = u + j * m;
    for (int64_t i = 0; i < m; i++) {
      column[i] = i == j;
    }
    for (int64_t k = known - 1; k >= 0; k--) {
      reflect(m - k, copy + k * m + k, CONJ(taus[k]), column + k);
    }
  }
}

int64_t NAME(svd)(int64_t m, int64_t n, number *a, int64_t columns, double *s, number *u, number *v, number *work) {
  double scale = 0;
  for (int64_t i = 0; i < m * n; i++) {
    scale = fmax(scale, ABS1(a[i]));
  }
  scale = scale > 0 ? scale : 1;
  double squares = 0;
  for (int64_t i = 0; i < m * n; i++) {
    a[i] /= scale;
    squares += SQUARE(a[i]);
  }
  squares *= 4 * epsilon * epsilon;
  if (u != NULL) {
    set_identity(n, v);
  }
  int64_t info = 1;
  for (int32_t sweep = 0; sweep < SWEEPS && info != 0; sweep++) {
    info = sweep_columns(m, n, squares, a, u != NULL ? v : NULL);
  }
  for (int64_t j = 0; j < n; j++) {
    s[j] = length_of(m, a + j * m);
  }
  order_columns(m, n, n, true, s, a, u != NULL ? v : NULL);
  int64_t known = 0;
  double least = n > 0 ? 4 * epsilon * (double)m * s[0] : 0;
  for (int64_t j = 0; j < n; j++) {
    /* A column of nothing but rounding says nothing about its direction. */
    known += u != NULL && j == known && s[j] > least;
    for (int64_t i = 0; i < m && j < known; i++) {
      u[j * m + i] = a[j * m + i] / s[j];
    }
    s[j] *= scale;
  }
  if (u != NULL && known < columns) {
    complete_columns(m, known, columns, u, work, work + m * n);
  }
  return info;
}

void NAME(product)(bool adjoint, int64_t m, int64_t n, int64_t k, const number *a, const number *b, number *c) {
  for (int64_t j = 0; j < n; j++) {
    number *column = c + j * m;
    for (int64_t i = 0; i < m; i++) {
      column[i] = 0;
      for (int64_t l = 0; adjoint && l < k; l++) {
        column[i] += MUL(CONJ(a[i * k + l]), b[j * k + l]);
      }
    }
    for (int64_t l = 0; !adjoint && l < k; l++) {
      number factor = b[j * k + l];
      for (int64_t i = 0; i < m; i++) {
        column[i] += MUL(a[l * m + i], factor);
      }
    }
  }
}
