/* Ops that solve with a factorisation: determinants, inverses, systems, powers. nd4c_cpu_dense_run calls them for each
 * matrix of a batch. */
#include <string.h>

#include "backends/cpu/support/decomposition.h"
#include "kernels/hypot.h"

#define BOOL_ATTR(op, name) (job->call->attrs[ND4C_ATTR_##op##_##name].as.i != 0)

enum { ROOM_A, ROOM_B, ROOM_C, ROOM_D, ROOM_E, ROOM_F, ROOM_PIVOTS = 8 };

static int64_t *take_pivots(const nd4c_cpu_dense_job *job, nd4c_cpu_space *space) {
  return nd4c_cpu_space_take(space, ROOM_PIVOTS, job->least, sizeof(int64_t));
}

static void set_identity(const nd4c_cpu_dense_job *job, int64_t n, void *a) {
  memset(a, 0, (size_t)(n * n * job->bytes));
  for (int64_t i = 0; i < n; i++) {
    nd4c_cpu_dense_set(job, a, i * (n + 1), 1);
  }
}

/* Sizes are written out, so that the copies are moves of registers. */
#define EXCHANGE(size)                                                       \
  for (int64_t j = 0; j < k; j++) {                                          \
    char *column = b + j * n * (size), kept[size];                           \
    for (int64_t i = 0; i < n; i++) {                                        \
      char *one = column + i * (size), *other = column + pivots[i] * (size); \
      memcpy(kept, one, size);                                               \
      memmove(one, other, size);                                             \
      memcpy(other, kept, size);                                             \
    }                                                                        \
  }

/* b's rows in the order of the exchanges. */
static void exchange(const nd4c_cpu_dense_job *job, int64_t n, int64_t k, const int64_t *pivots, char *b) {
  if (job->bytes == 4) {
    EXCHANGE(4)
  } else if (job->bytes == 8) {
    EXCHANGE(8)
  } else {
    EXCHANGE(16)
  }
}

static void solve_factored(const nd4c_cpu_dense_job *job, int64_t n, int64_t k, const void *lu, const int64_t *pivots,
                           void *b) {
  exchange(job, n, k, pivots, b);
  job->dense->triangular(false, false, true, n, k, lu, b);
  job->dense->triangular(true, false, false, n, k, lu, b);
}

/* b becomes a^-1 b; a is spoilt. */
static int64_t solve_general(const nd4c_cpu_dense_job *job, nd4c_cpu_space *space, int64_t n, int64_t k, void *a,
                             void *b) {
  int64_t *pivots = take_pivots(job, space);
  if (pivots == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  int64_t info = job->dense->lu(space, n, n, a, pivots);
  if (info == 0) {
    solve_factored(job, n, k, a, pivots, b);
  }
  return info;
}

/* The inverse of a, in its place or in the room given. */
static int64_t invert(const nd4c_cpu_dense_job *job, nd4c_cpu_space *space, void *a, int32_t room, void **inverse) {
  int64_t n = job->n, *pivots = take_pivots(job, space);
  if (job->dense->invert != NULL) {
    *inverse = a;
    int64_t info = pivots == NULL ? ND4C_DENSE_NO_MEMORY : job->dense->lu(space, n, n, a, pivots);
    return info != 0 ? info : job->dense->invert(space, n, a, pivots);
  }
  *inverse = nd4c_cpu_dense_take(job, space, room, n * n);
  if (*inverse == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  set_identity(job, n, *inverse);
  return solve_general(job, space, n, n, a, *inverse);
}

/* -- determinants ----------------------------------------------------------------------------------------------- */

/* A product whose factors may leave the range of doubles on the way: number * 2^exponent. */
typedef struct product {
  double complex number;
  int64_t exponent;
} product;

static void multiply(product *p, double complex factor) {
  int exponent = 0;
  double a = creal(p->number), b = cimag(p->number), c = creal(factor), d = cimag(factor);
  (void)frexp(fmax(fabs(c), fabs(d)), &exponent);
  c = ldexp(c, -exponent);
  d = ldexp(d, -exponent);
  p->exponent += exponent;
  double real = a * c - b * d, imaginary = a * d + b * c;
  (void)frexp(fmax(fabs(real), fabs(imaginary)), &exponent);
  p->number = nd4c_complex_make(ldexp(real, -exponent), ldexp(imaginary, -exponent));
  p->exponent += exponent;
}

/* The determinant of the matrix at `index`; number NaN for one that is not finite. */
static int64_t determinant(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space, product *p) {
  int64_t n = job->n, *pivots = take_pivots(job, space);
  nd4c_dense_place place = nd4c_cpu_dense_place(job, &job->call->inputs[0], 2, index);
  void *a = nd4c_cpu_dense_take(job, space, ROOM_A, n * n);
  if (a == NULL || pivots == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  place =
      place.column_stride == 1 ? nd4c_cpu_dense_transposed(place) : place; /* the same determinant, copied as it is */
  nd4c_cpu_dense_load_from(job, &place, a);
  *p = (product){.number = 1};
  if (!nd4c_cpu_dense_is_finite(job, n * n, a)) {
    p->number = job->dense->complex_numbers ? nd4c_complex_make((double)NAN, (double)NAN) : (double)NAN;
    return ND4C_DENSE_FINE;
  }
  bool singular = job->dense->lu(space, n, n, a, pivots) != 0;
  for (int64_t i = 0; i < n && !singular; i++) {
    multiply(p, nd4c_cpu_dense_get(job, a, i * (n + 1)));
    p->number = pivots[i] != i ? -p->number : p->number;
  }
  p->number = singular ? 0 : p->number;
  return ND4C_DENSE_FINE;
}

static nd4c_dtype numbers_in_double(const nd4c_cpu_dense_job *job) {
  return job->dense->complex_numbers ? ND4C_COMPLEX128 : ND4C_FLOAT64;
}

int64_t nd4c_cpu_dense_det(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  product p;
  int64_t outcome = determinant(job, index, space, &p);
  if (outcome == ND4C_DENSE_FINE) {
    int exponent = p.exponent > 4096 ? 4096 : p.exponent < -4096 ? -4096 : (int)p.exponent;
    double parts[2] = {ldexp(creal(p.number), exponent), ldexp(cimag(p.number), exponent)};
    nd4c_cpu_dense_store_as(job, 0, 0, index, numbers_in_double(job), parts);
  }
  return outcome;
}

int64_t nd4c_cpu_dense_slogdet(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  product p;
  int64_t outcome = determinant(job, index, space, &p);
  if (outcome == ND4C_DENSE_FINE) {
    double size = cabs(p.number), logarithm = log(size) + (double)p.exponent * 0.693147180559945309417;
    double parts[2] = {creal(p.number) / size, cimag(p.number) / size};
    if (size == 0) {
      parts[0] = parts[1] = 0;
      logarithm = -(double)INFINITY;
    }
    nd4c_cpu_dense_store_as(job, 0, 0, index, numbers_in_double(job), parts);
    nd4c_cpu_dense_store_as(job, 1, 0, index, ND4C_FLOAT64, &logarithm);
  }
  return outcome;
}

/* -- systems ---------------------------------------------------------------------------------------------------- */

int64_t nd4c_cpu_dense_inv(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  static const int32_t axes[] = {2};
  int64_t n = job->n;
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index), *inverse = NULL;
  if (a == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  if (!nd4c_cpu_dense_is_finite(job, n * n, a)) {
    return nd4c_cpu_dense_store_nan(job, space, index, axes);
  }
  int64_t info = invert(job, space, a, ROOM_B, &inverse);
  if (info == 0) {
    nd4c_cpu_dense_store(job, 0, 2, index, inverse);
  }
  return info;
}

/* The right-hand side at a position of the inputs: how many axes its matrix has, how many columns. */
typedef struct right_side {
  int32_t axes;
  int64_t columns;
  void *b;
} right_side;

static right_side load_right(const nd4c_cpu_dense_job *job, nd4c_cpu_space *space, int32_t input, int64_t index) {
  const nd4c_tensor *b = &job->call->inputs[input];
  right_side right = {.axes = b->rank == 1 ? 1 : 2, .columns = b->rank == 1 ? 1 : b->shape[b->rank - 1]};
  right.b = nd4c_cpu_dense_load(job, space, ROOM_B, input, right.axes, index);
  return right;
}

int64_t nd4c_cpu_dense_solve(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  right_side right = load_right(job, space, 1, index);
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index);
  if (a == NULL || right.b == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  if (!nd4c_cpu_dense_is_finite(job, job->n * job->n, a)) {
    return nd4c_cpu_dense_store_nan(job, space, index, &right.axes);
  }
  int64_t info = solve_general(job, space, job->n, right.columns, a, right.b);
  if (info == 0) {
    nd4c_cpu_dense_store(job, 0, right.axes, index, right.b);
  }
  return info;
}

static int64_t zero_on_diagonal(const nd4c_cpu_dense_job *job, const void *a) {
  for (int64_t i = 0; i < job->n; i++) {
    if (nd4c_cpu_dense_get(job, a, i * (job->n + 1)) == 0) {
      return i + 1;
    }
  }
  return 0;
}

int64_t nd4c_cpu_dense_triangular_solve(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  bool upper = BOOL_ATTR(triangular_solve, upper), adjoint = BOOL_ATTR(triangular_solve, adjoint);
  bool unit = BOOL_ATTR(triangular_solve, unit_diagonal);
  right_side right = load_right(job, space, 1, index);
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index);
  if (a == NULL || right.b == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  nd4c_cpu_dense_clear_triangle(job, !upper, job->n, job->n, a);
  for (int64_t i = 0; i < job->n && unit; i++) {
    memset((char *)a + i * (job->n + 1) * job->bytes, 0, (size_t)job->bytes);
  }
  if (!nd4c_cpu_dense_is_finite(job, job->n * job->n, a)) {
    return nd4c_cpu_dense_store_nan(job, space, index, &right.axes);
  }
  int64_t info = unit ? 0 : zero_on_diagonal(job, a);
  if (info == 0) {
    job->dense->triangular(upper, adjoint, unit, job->n, right.columns, a, right.b);
    nd4c_cpu_dense_store(job, 0, right.axes, index, right.b);
  }
  return info;
}

int64_t nd4c_cpu_dense_cholesky(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  static const int32_t axes[] = {2};
  int64_t n = job->n;
  bool upper = BOOL_ATTR(cholesky, upper);
  nd4c_dense_place from = nd4c_cpu_dense_place(job, &job->call->inputs[0], 2, index);
  nd4c_dense_place to = nd4c_cpu_dense_place(job, &job->call->outputs[0], 2, index);
  void *a = nd4c_cpu_dense_take(job, space, ROOM_A, n * n);
  if (a == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  /* The lower triangle of x^T is the conjugate of the one that U^H U asks for, and so is its factor U^T. */
  from = upper ? nd4c_cpu_dense_transposed(from) : from;
  to = upper ? nd4c_cpu_dense_transposed(to) : to;
  nd4c_cpu_dense_load_from(job, &from, a);
  nd4c_cpu_dense_clear_triangle(job, true, n, n, a);
  if (!nd4c_cpu_dense_is_finite(job, n * n, a)) {
    return nd4c_cpu_dense_store_nan(job, space, index, axes);
  }
  int64_t info = job->dense->cholesky(n, a);
  if (info == 0) {
    nd4c_cpu_dense_store_to(job, &to, a);
  }
  return info;
}

int64_t nd4c_cpu_dense_cholesky_solve(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  bool upper = BOOL_ATTR(cholesky_solve, upper);
  right_side right = load_right(job, space, 1, index);
  void *a = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index);
  if (a == NULL || right.b == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  nd4c_cpu_dense_clear_triangle(job, !upper, job->n, job->n, a);
  if (!nd4c_cpu_dense_is_finite(job, job->n * job->n, a)) {
    return nd4c_cpu_dense_store_nan(job, space, index, &right.axes);
  }
  int64_t info = zero_on_diagonal(job, a);
  if (info == 0) {
    job->dense->triangular(upper, upper, false, job->n, right.columns, a, right.b);
    job->dense->triangular(upper, !upper, false, job->n, right.columns, a, right.b);
    nd4c_cpu_dense_store(job, 0, right.axes, index, right.b);
  }
  return info;
}

/* Reads the pivots that the caller gives; false if one is out of range. */
static bool read_pivots(const nd4c_cpu_dense_job *job, int64_t index, int64_t *pivots) {
  const nd4c_tensor *tensor = &job->call->inputs[ND4C_IN_lu_solve_pivots];
  nd4c_dense_place place = nd4c_cpu_dense_place(job, tensor, 1, index);
  for (int64_t i = 0; i < job->n; i++) {
    pivots[i] = nd4c_value_load(place.dtype, place.data, i * place.row_stride).i;
    if (pivots[i] < 0 || pivots[i] >= job->n) {
      return false;
    }
  }
  return true;
}

int64_t nd4c_cpu_dense_lu_solve(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  right_side right = load_right(job, space, ND4C_IN_lu_solve_b, index);
  void *lu = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index);
  int64_t *pivots = take_pivots(job, space);
  if (lu == NULL || right.b == NULL || pivots == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  if (!read_pivots(job, index, pivots)) {
    return INT64_MAX;
  }
  if (!nd4c_cpu_dense_is_finite(job, job->n * job->n, lu)) {
    return nd4c_cpu_dense_store_nan(job, space, index, &right.axes);
  }
  int64_t info = zero_on_diagonal(job, lu);
  if (info == 0) {
    solve_factored(job, job->n, right.columns, lu, pivots, right.b);
    nd4c_cpu_dense_store(job, 0, right.axes, index, right.b);
  }
  return info;
}

/* -- powers ----------------------------------------------------------------------------------------------------- */

static void square_product(const nd4c_cpu_dense_job *job, const void *a, const void *b, void *c) {
  job->dense->product(false, job->n, job->n, job->n, a, b, c);
}

static void swap(void **a, void **b) {
  void *kept = *a;
  *a = *b;
  *b = kept;
}

int64_t nd4c_cpu_dense_matrix_power(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  int64_t n = job->n, power = ND4C_INT_OF(job->call, matrix_power_n);
  uint64_t left = power < 0 ? -(uint64_t)power : (uint64_t)power;
  void *base = nd4c_cpu_dense_load(job, space, ROOM_A, 0, 2, index),
       *result = nd4c_cpu_dense_take(job, space, ROOM_B, n * n);
  void *spare = nd4c_cpu_dense_take(job, space, ROOM_C, n * n);
  if (base == NULL || result == NULL || spare == NULL) {
    return ND4C_DENSE_NO_MEMORY;
  }
  static const int32_t axes[] = {2};
  if (!nd4c_cpu_dense_is_finite(job, n * n, base)) {
    return nd4c_cpu_dense_store_nan(job, space, index, axes);
  }
  if (power < 0) {
    void *inverse = NULL;
    int64_t info = invert(job, space, base, ROOM_C, &inverse);
    if (info != 0) {
      return info;
    }
    spare = inverse == spare ? base : spare;
    base = inverse;
  }
  bool is_identity = true;
  set_identity(job, n, result);
  for (; left > 0; left >>= 1) {
    if ((left & 1) != 0 && is_identity) {
      memcpy(result, base, (size_t)(n * n * job->bytes));
      is_identity = false;
    } else if ((left & 1) != 0) {
      square_product(job, result, base, spare);
      swap(&result, &spare);
    }
    if (left > 1) {
      square_product(job, base, base, spare);
      swap(&base, &spare);
    }
  }
  nd4c_cpu_dense_store(job, 0, 2, index, result);
  return ND4C_DENSE_FINE;
}

/* The largest sum of magnitudes in a column. */
static double norm_one(const nd4c_cpu_dense_job *job, const void *a) {
  double norm = 0;
  for (int64_t j = 0; j < job->n; j++) {
    double sum = 0;
    for (int64_t i = 0; i < job->n; i++) {
      const double *x = (const double *)((const char *)a + (j * job->n + i) * job->bytes);
      sum += job->dense->complex_numbers ? nd4c_hypot_f64(x[0], x[1]) : fabs(x[0]);
    }
    norm = fmax(norm, sum);
  }
  return norm;
}

/* to = sum of factors[i] * terms[i], matrices as runs of doubles. */
static void combine(int64_t count, int32_t terms, const double *factors, const void *const *matrices, void *to) {
  double *y = to;
  for (int64_t i = 0; i < count; i++) {
    double sum = 0;
    for (int32_t t = 0; t < terms; t++) {
      sum += factors[t] * ((const double *)matrices[t])[i];
    }
    y[i] = sum;
  }
}

/* U and V of the approximant, x^0 in `one`, x^2, x^4, x^6 given: u = x (x6 (b13 x6 + b11 x4 + b9 x2) + b7 x6 + ...). */
static void pade_sums(const nd4c_cpu_dense_job *job, int64_t count, const void *const *powers, int32_t odd, void *spare,
                      void *to) {
  static const double b[] = {64764752532480000.0,
                             32382376266240000.0,
                             7771770303897600.0,
                             1187353796428800.0,
                             129060195264000.0,
                             10559470521600.0,
                             670442572800.0,
                             33522128640.0,
                             1323241920.0,
                             40840800.0,
                             960960.0,
                             16380.0,
                             182.0,
                             1.0};
  const double high[] = {b[12 + odd], b[10 + odd], b[8 + odd]};
  const double low[] = {1, b[6 + odd], b[4 + odd], b[2 + odd], b[0 + odd]};
  combine(count, 3, high, (const void *const[]){powers[3], powers[2], powers[1]}, spare);
  square_product(job, powers[3], spare, to);
  combine(count, 5, low, (const void *const[]){to, powers[3], powers[2], powers[1], powers[0]}, to);
}

int64_t nd4c_cpu_dense_expm(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space) {
  static const int32_t axes[] = {2};
  int64_t n = job->n, count = n * n * (job->bytes / 8);
  void *room[7] = {nd4c_cpu_dense_load(job, space, 0, 0, 2, index)};
  for (int32_t i = 1; i < 7; i++) {
    room[i] = nd4c_cpu_dense_take(job, space, i, n * n);
  }
  for (int32_t i = 0; i < 7; i++) {
    if (room[i] == NULL) {
      return ND4C_DENSE_NO_MEMORY;
    }
  }
  double *x = room[0], norm = norm_one(job, x);
  if (!nd4c_cpu_dense_is_finite(job, n * n, x)) {
    return nd4c_cpu_dense_store_nan(job, space, index, axes);
  }
  int squarings = 0;
  if (norm > 5.371920351148152) {
    (void)frexp(norm / 5.371920351148152, &squarings);
    for (int64_t i = 0; i < count; i++) {
      x[i] = ldexp(x[i], -squarings);
    }
  }
  void *powers[4] = {room[1], room[2], room[3], room[4]}, *u = room[5], *spare = room[6];
  set_identity(job, n, powers[0]);
  square_product(job, x, x, powers[1]);
  square_product(job, powers[1], powers[1], powers[2]);
  square_product(job, powers[1], powers[2], powers[3]);
  pade_sums(job, count, (const void *const *)powers, 1, spare, u);
  square_product(job, x, u, spare); /* the odd part */
  pade_sums(job, count, (const void *const *)powers, 0, u, x);
  for (int64_t i = 0; i < count; i++) { /* (V - U) y = V + U */
    double odd = ((double *)spare)[i], even = x[i];
    ((double *)u)[i] = even - odd;
    x[i] = even + odd;
  }
  int64_t info = solve_general(job, space, n, n, u, x);
  void *y = x;
  for (; squarings > 0 && info == 0; squarings--) {
    square_product(job, y, y, spare);
    swap(&y, &spare);
  }
  if (info == 0) {
    nd4c_cpu_dense_store(job, 0, 2, index, y);
  }
  return info;
}
