/* Discrete Fourier transforms of signal.h: Stockham's mixed radix with steps of 4, 2, 3, 5 and small primes;
 * Bluestein's algorithm for the rest. Lanes are transforms side by side, which the inner loops run along.
 * backends/cpu/reference/signal_fft.c calls these, simd/signal_plan.c the roots. */
#include <string.h>

#include "kernels/reference/signal/signal.h"

enum { LARGEST_RADIX = 31 };

typedef double complex number;

static inline number multiply(number a, number b) {
  return nd4c_complex_make(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}

/* a times -i */
static inline number turned(number a) {
  return nd4c_complex_make(cimag(a), -creal(a));
}

/* The angle is brought below pi / 4 in whole numbers. */
double complex nd4c_fft_root(int64_t k, int64_t n) {
  bool lower = 2 * k > n;
  int64_t part = 8 * (lower ? n - k : k); /* of a circle of 8 n */
  bool left = part > 2 * n;
  part = left ? 4 * n - part : part;
  bool steep = part > n;
  part = steep ? 2 * n - part : part;
  double angle = (double)(0.785398163397448309615660845819875721L * (long double)part / (long double)n);
  double c = steep ? sin(angle) : cos(angle), s = steep ? cos(angle) : sin(angle);
  return nd4c_complex_make(left ? -c : c, lower ? s : -s);
}

/* -- plans ------------------------------------------------------------------------------------------------------ */

/* Factors into radixes; what is left over, 1 if nothing. */
static int64_t factorize(int64_t n, int64_t *factors, int32_t *count) {
  static const int64_t radixes[] = {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
  *count = 0;
  for (size_t i = 0; i < sizeof radixes / sizeof *radixes; i++) {
    while (n % radixes[i] == 0) {
      factors[(*count)++] = radixes[i];
      n /= radixes[i];
    }
  }
  return n;
}

/* The least length of at least `least` with no factor above 5. */
static int64_t smooth_length(int64_t least) {
  int64_t best = 1;
  while (best < least) {
    best *= 2;
  }
  for (int64_t five = 1; five < best; five *= 5) {
    for (int64_t three = five; three < best; three *= 3) {
      int64_t length = three;
      while (length < least) {
        length *= 2;
      }
      best = length < best ? length : best;
    }
  }
  return best;
}

/* Inner length of Bluestein's convolution; 0: not needed. */
static int64_t inner_length(int64_t n) {
  int64_t factors[64];
  int32_t count;
  return factorize(n, factors, &count) == 1 ? 0 : smooth_length(2 * n - 1);
}

int64_t nd4c_fft_plan_bytes(int64_t n) {
  if (n > INT64_C(1) << 48) {
    return -1;
  }
  int64_t inner = inner_length(n), numbers = inner == 0 ? n : n + 2 * inner;
  return 2 * (int64_t)sizeof(nd4c_fft_plan) + numbers * (int64_t)sizeof(number);
}

static number *set_roots(nd4c_fft_plan *plan, int64_t n, number *room) {
  plan->n = n;
  plan->roots = room;
  for (int64_t k = 0; k < n; k++) {
    room[k] = nd4c_fft_root(k, n);
  }
  return room + n;
}

nd4c_fft_plan *nd4c_fft_plan_make(int64_t n, void *memory) {
  nd4c_fft_plan *plan = memory, *inner = plan + 1;
  number *room = (number *)(plan + 2);
  int64_t length = inner_length(n);
  plan->n = n;
  if (length == 0) {
    factorize(n, plan->factors, &plan->factor_count);
    set_roots(plan, n, room);
    return plan;
  }
  plan->inner = inner;
  factorize(length, inner->factors, &inner->factor_count);
  room = set_roots(inner, length, room);
  plan->chirp = room;
  plan->spectrum = room + n;
  int64_t square = 0; /* k^2 modulo 2 n */
  for (int64_t k = 0; k < n; k++) {
    plan->chirp[k] = nd4c_fft_root(square, 2 * n);
    square = (square + 2 * k + 1) % (2 * n);
  }
  plan->spectrum[0] = conj(plan->chirp[0]);
  for (int64_t k = 1; k < n; k++) {
    plan->spectrum[k] = plan->spectrum[length - k] = conj(plan->chirp[k]);
  }
  return plan;
}

int64_t nd4c_fft_real_plan_bytes(int64_t length) {
  int64_t bytes = nd4c_fft_plan_bytes(length / 2);
  return bytes < 0 ? -1 : bytes + length / 2 * (int64_t)sizeof(number);
}

nd4c_fft_plan *nd4c_fft_real_plan_make(int64_t length, void *memory) {
  nd4c_fft_plan *plan = nd4c_fft_plan_make(length / 2, memory);
  plan->unpacking = (number *)((char *)memory + nd4c_fft_plan_bytes(length / 2));
  for (int64_t k = 0; k < length / 2; k++) {
    plan->unpacking[k] = nd4c_fft_root(k, length);
  }
  return plan;
}

int64_t nd4c_fft_work(int64_t n, int32_t lanes) {
  int64_t inner = inner_length(n);
  return lanes * (inner == 0 ? n : 2 * inner);
}

void nd4c_fft_plan_finish(nd4c_fft_plan *plan, double complex *work) {
  if (plan->inner != NULL) {
    nd4c_fft_run(plan->inner, 1, plan->spectrum, work);
    for (int64_t k = 0; k < plan->inner->n; k++) { /* what the way back divides by */
      plan->spectrum[k] /= (double)plan->inner->n;
    }
  }
}

/* -- steps ------------------------------------------------------------------------------------------------------ */

/* One step: n = radix * m left to transform, s already done (lanes among them). Output k of butterfly p is turned by
 * roots[p k s'], s' without lanes. */
typedef struct step {
  int64_t radix, m, s, root_step;
  const number *roots;
} step;

static void step_2(const step *t, const number *x, number *y) {
  for (int64_t p = 0; p < t->m; p++) {
    number w = t->roots[p * t->root_step];
    const number *a = x + p * t->s, *b = a + t->m * t->s;
    number *c = y + 2 * p * t->s, *d = c + t->s;
    for (int64_t q = 0; q < t->s; q++) {
      number sum = a[q] + b[q], difference = a[q] - b[q];
      c[q] = sum;
      d[q] = multiply(difference, w);
    }
  }
}

static void step_3(const step *t, const number *x, number *y) {
  const double half = 0.5, sine = 0.866025403784438646763723170752936183;
  for (int64_t p = 0; p < t->m; p++) {
    number w1 = t->roots[p * t->root_step], w2 = t->roots[2 * p * t->root_step];
    const number *a = x + p * t->s, *b = a + t->m * t->s, *c = b + t->m * t->s;
    number *u = y + 3 * p * t->s, *v = u + t->s, *w = v + t->s;
    for (int64_t q = 0; q < t->s; q++) {
      number sum = b[q] + c[q], difference = turned(sine * (b[q] - c[q])), middle = a[q] - half * sum;
      number first = a[q] + sum;
      v[q] = multiply(middle + difference, w1);
      w[q] = multiply(middle - difference, w2);
      u[q] = first;
    }
  }
}

static void step_4(const step *t, const number *x, number *y) {
  for (int64_t p = 0; p < t->m; p++) {
    number w1 = t->roots[p * t->root_step], w2 = t->roots[2 * p * t->root_step], w3 = t->roots[3 * p * t->root_step];
    const number *a = x + p * t->s, *b = a + t->m * t->s, *c = b + t->m * t->s, *d = c + t->m * t->s;
    number *e = y + 4 * p * t->s, *f = e + t->s, *g = f + t->s, *h = g + t->s;
    for (int64_t q = 0; q < t->s; q++) {
      number even = a[q] + c[q], odd = b[q] + d[q], minus = a[q] - c[q], side = turned(b[q] - d[q]);
      e[q] = even + odd;
      f[q] = multiply(minus + side, w1);
      g[q] = multiply(even - odd, w2);
      h[q] = multiply(minus - side, w3);
    }
  }
}

static void step_5(const step *t, const number *x, number *y) {
  const double c1 = 0.309016994374947424102293417182819059, c2 = -0.809016994374947424102293417182819059;
  const double s1 = 0.951056516295153572116439333379382143, s2 = 0.587785252292473129168705954639072769;
  for (int64_t p = 0; p < t->m; p++) {
    const number *a = x + p * t->s;
    number *out = y + 5 * p * t->s, w[5];
    int64_t next = t->m * t->s;
    for (int32_t k = 1; k < 5; k++) {
      w[k] = t->roots[k * p * t->root_step];
    }
    for (int64_t q = 0; q < t->s; q++) {
      number first = a[q], p1 = a[q + next] + a[q + 4 * next], m1 = a[q + next] - a[q + 4 * next];
      number p2 = a[q + 2 * next] + a[q + 3 * next], m2 = a[q + 2 * next] - a[q + 3 * next];
      number r1 = first + c1 * p1 + c2 * p2, r2 = first + c2 * p1 + c1 * p2;
      number i1 = turned(s1 * m1 + s2 * m2), i2 = turned(s2 * m1 - s1 * m2);
      out[q] = first + p1 + p2;
      out[q + t->s] = multiply(r1 + i1, w[1]);
      out[q + 2 * t->s] = multiply(r2 + i2, w[2]);
      out[q + 3 * t->s] = multiply(r2 - i2, w[3]);
      out[q + 4 * t->s] = multiply(r1 - i1, w[4]);
    }
  }
}

/* One butterfly of a prime length: inputs j and radix - j share their sums and differences, outputs k and radix - k
 * what is made of them. */
static void butterfly(int64_t radix, const number *wheel, const number *a, int64_t next, number *out) {
  number plus[LARGEST_RADIX / 2 + 1], minus[LARGEST_RADIX / 2 + 1];
  int64_t half = radix / 2;
  out[0] = a[0];
  for (int64_t j = 1; j <= half; j++) {
    plus[j] = a[j * next] + a[(radix - j) * next];
    minus[j] = turned(a[j * next] - a[(radix - j) * next]);
    out[0] += plus[j];
  }
  for (int64_t k = 1; k <= half; k++) {
    number even = a[0], odd = 0;
    for (int64_t j = 1, turn = 0; j <= half; j++) {
      turn += turn + k >= radix ? k - radix : k; /* j k modulo radix */
      even += creal(wheel[turn]) * plus[j];
      odd -= cimag(wheel[turn]) * minus[j];
    }
    out[k] = even + odd;
    out[radix - k] = even - odd;
  }
}

static void step_any(const step *t, int64_t n, const number *x, number *y) {
  number wheel[LARGEST_RADIX], out[LARGEST_RADIX];
  int64_t radix = t->radix;
  for (int64_t k = 0; k < radix; k++) {
    wheel[k] = t->roots[k * (n / radix)];
  }
  for (int64_t p = 0; p < t->m; p++) {
    for (int64_t q = 0; q < t->s; q++) {
      butterfly(radix, wheel, x + p * t->s + q, t->m * t->s, out);
      for (int64_t k = 0; k < radix; k++) {
        y[(radix * p + k) * t->s + q] = multiply(out[k], t->roots[k * p * t->root_step]);
      }
    }
  }
}

static void run_steps(const nd4c_fft_plan *plan, int32_t lanes, number *x, number *work) {
  number *from = x, *to = work;
  int64_t left = plan->n, done = 1;
  for (int32_t i = 0; i < plan->factor_count; i++) {
    step t = {.radix = plan->factors[i], .s = done * lanes, .root_step = done, .roots = plan->roots};
    t.m = left / t.radix;
    switch (t.radix) {
      case 2:
        step_2(&t, from, to);
        break;
      case 3:
        step_3(&t, from, to);
        break;
      case 4:
        step_4(&t, from, to);
        break;
      case 5:
        step_5(&t, from, to);
        break;
      default:
        step_any(&t, plan->n, from, to);
        break;
    }
    left = t.m;
    done *= t.radix;
    number *kept = from;
    from = to;
    to = kept;
  }
  if (from != x) {
    memcpy(x, from, (size_t)(plan->n * lanes) * sizeof *x);
  }
}

/* Each lane's numbers times one of `factors`, conjugated before or after. */
static void scale_lanes(int64_t count, int32_t lanes, const number *factors, number *x) {
  for (int64_t k = 0; k < count; k++) {
    for (int32_t lane = 0; lane < lanes; lane++) {
      x[k * lanes + lane] = multiply(x[k * lanes + lane], factors[k]);
    }
  }
}

static void run_bluestein(const nd4c_fft_plan *plan, int32_t lanes, number *x, number *work) {
  int64_t n = plan->n, m = plan->inner->n;
  number *a = work, *rest = work + m * lanes;
  scale_lanes(n, lanes, plan->chirp, x);
  memcpy(a, x, (size_t)(n * lanes) * sizeof *a);
  memset(a + n * lanes, 0, (size_t)((m - n) * lanes) * sizeof *a);
  run_steps(plan->inner, lanes, a, rest);
  scale_lanes(m, lanes, plan->spectrum, a);
  for (int64_t i = 0; i < m * lanes; i++) { /* back: forth with the parts exchanged */
    a[i] = nd4c_complex_make(cimag(a[i]), creal(a[i]));
  }
  run_steps(plan->inner, lanes, a, rest);
  for (int64_t i = 0; i < n * lanes; i++) {
    x[i] = nd4c_complex_make(cimag(a[i]), creal(a[i]));
  }
  scale_lanes(n, lanes, plan->chirp, x);
}

void nd4c_fft_run(const nd4c_fft_plan *plan, int32_t lanes, double complex *x, double complex *work) {
  if (plan->inner != NULL) {
    run_bluestein(plan, lanes, x, work);
  } else {
    run_steps(plan, lanes, x, work);
  }
}

/* -- lines ------------------------------------------------------------------------------------------------------ */

static number load_number(const nd4c_ref_tensor *x, nd4c_dtype_kind kind, int64_t offset) {
  if (x->dtype == ND4C_COMPLEX128 || x->dtype == ND4C_FLOAT64) {
    double parts[2] = {0, 0};
    size_t bytes = x->dtype == ND4C_FLOAT64 ? 8 : 16;
    memcpy(parts, x->data + offset * (int64_t)bytes, bytes);
    return nd4c_complex_make(parts[0], parts[1]);
  }
  nd4c_value value = nd4c_value_load(x->dtype, x->data, offset);
  if (kind == ND4C_KIND_COMPLEX) {
    return value.c;
  }
  return kind == ND4C_KIND_FLOAT ? value.f : nd4c_value_cast(kind, value, ND4C_FLOAT64).f;
}

/* The line's point i as it is read. */
static number line_point(const nd4c_fft_pass *pass, nd4c_dtype_kind kind, int64_t offset, int64_t i) {
  number value = load_number(&pass->from, kind, offset + i * pass->from.strides[pass->axis]);
  value = pass->window != NULL ? value * pass->window[i] : value;
  return pass->conjugate_in ? conj(value) : value;
}

/* Points that are given, of those wanted; the others are 0. */
static int64_t points_given(const nd4c_fft_pass *pass, int64_t wanted) {
  int64_t given = pass->from.shape[pass->axis];
  return given < wanted ? given : wanted;
}

static void load_line(const nd4c_fft_pass *pass, int64_t offset, int32_t lane, int32_t lanes, number *x) {
  int64_t n = pass->plan->n, given = points_given(pass, pass->hermitian ? n / 2 + 1 : n);
  nd4c_dtype_kind kind = nd4c_reference_kind(pass->from.dtype);
  for (int64_t i = 0; i < given; i++) {
    x[i * lanes + lane] = line_point(pass, kind, offset, i);
  }
  for (int64_t i = given; i < n; i++) {
    x[i * lanes + lane] = 0;
  }
  for (int64_t i = (n + 1) / 2; pass->hermitian && i < n; i++) {
    number other = x[(n - i) * lanes + lane];
    x[i * lanes + lane] = 2 * i == n ? creal(other) : conj(other);
  }
  if (pass->hermitian) {
    x[lane] = creal(x[lane]);
  }
}

/* Two real points are one complex number. */
static void load_real_line(const nd4c_fft_pass *pass, int64_t offset, int32_t lane, int32_t lanes, number *x) {
  int64_t n = pass->plan->n, given = points_given(pass, 2 * n);
  nd4c_dtype_kind kind = nd4c_reference_kind(pass->from.dtype);
  for (int64_t i = 0; i < n; i++) {
    double even = 2 * i < given ? creal(line_point(pass, kind, offset, 2 * i)) : 0;
    double odd = 2 * i + 1 < given ? creal(line_point(pass, kind, offset, 2 * i + 1)) : 0;
    x[i * lanes + lane] = nd4c_complex_make(even, odd);
  }
}

/* Half a spectrum and one point as the spectrum of the pairs of its real points. room: n + 1. */
static void load_half_spectrum(const nd4c_fft_pass *pass, int64_t offset, int32_t lane, int32_t lanes, number *x,
                               number *room) {
  int64_t n = pass->plan->n, given = points_given(pass, n + 1);
  nd4c_dtype_kind kind = nd4c_reference_kind(pass->from.dtype);
  for (int64_t i = 0; i <= n; i++) {
    room[i] = i < given ? line_point(pass, kind, offset, i) : 0;
  }
  room[0] = creal(room[0]);
  room[n] = creal(room[n]);
  for (int64_t k = 0; k < n; k++) {
    number other = conj(room[n - k]), odd = multiply(room[k] - other, conj(pass->plan->unpacking[k]));
    x[k * lanes + lane] = room[k] + other - turned(odd);
  }
}

static void exchange_parts(int64_t count, number *x) {
  for (int64_t i = 0; i < count; i++) {
    x[i] = nd4c_complex_make(cimag(x[i]), creal(x[i]));
  }
}

static void store_number(const nd4c_ref_tensor *to, bool real, int64_t offset, number result) {
  if (to->dtype == ND4C_COMPLEX128 || to->dtype == ND4C_FLOAT64) {
    double parts[2] = {creal(result), cimag(result)};
    size_t bytes = to->dtype == ND4C_FLOAT64 ? 8 : 16;
    memcpy(to->data + offset * (int64_t)bytes, parts, bytes);
    return;
  }
  nd4c_value value = {.c = result};
  if (real) {
    value.f = creal(result);
  }
  nd4c_value_store(to->dtype, to->data, offset, value);
}

static void store_point(const nd4c_fft_pass *pass, bool real, int64_t offset, int64_t i, number x) {
  number result = x * pass->scale;
  store_number(&pass->to, real, offset + i * pass->to.strides[pass->axis], pass->conjugate_out ? conj(result) : result);
}

static void store_line(const nd4c_fft_pass *pass, int64_t offset, int32_t lane, int32_t lanes, const number *x) {
  bool real = nd4c_reference_kind(pass->to.dtype) == ND4C_KIND_FLOAT;
  for (int64_t i = 0; i < pass->to.shape[pass->axis]; i++) {
    store_point(pass, real, offset, i, x[i * lanes + lane]);
  }
}

/* Real points out of pairs. */
static void store_real_line(const nd4c_fft_pass *pass, int64_t offset, int32_t lane, int32_t lanes, const number *x) {
  bool real = nd4c_reference_kind(pass->to.dtype) == ND4C_KIND_FLOAT;
  for (int64_t i = 0; i < pass->plan->n; i++) {
    number pair = x[i * lanes + lane];
    store_point(pass, real, offset, 2 * i, creal(pair));
    store_point(pass, real, offset, 2 * i + 1, cimag(pair));
  }
}

/* The first half of a real line's spectrum out of that of its pairs. */
static void store_half_spectrum(const nd4c_fft_pass *pass, int64_t offset, int32_t lane, int32_t lanes,
                                const number *x) {
  int64_t n = pass->plan->n;
  for (int64_t k = 0; k <= n; k++) {
    number one = x[(k == n ? 0 : k) * lanes + lane], other = conj(x[(k == 0 ? 0 : n - k) * lanes + lane]);
    number root = k == n ? -1 : pass->plan->unpacking[k];
    store_point(pass, false, offset, k, 0.5 * (one + other + turned(multiply(one - other, root))));
  }
}

/* Where line number `line` begins. */
static int64_t line_offset(const nd4c_fft_pass *pass, const nd4c_ref_tensor *tensor, int64_t line) {
  int64_t offset = 0;
  for (int32_t axis = tensor->rank - 1; axis >= 0; axis--) {
    if (axis != pass->axis) {
      offset += line % tensor->shape[axis] * tensor->strides[axis];
      line /= tensor->shape[axis];
    }
  }
  return offset;
}

/* One line of a lane. */
static void load_any(const nd4c_fft_pass *pass, int64_t line, int32_t lane, int32_t lanes, number *x, number *room) {
  int64_t offset = line_offset(pass, &pass->from, line);
  if (pass->plan->unpacking == NULL) {
    load_line(pass, offset, lane, lanes, x);
  } else if (pass->hermitian) {
    load_half_spectrum(pass, offset, lane, lanes, x, room);
  } else {
    load_real_line(pass, offset, lane, lanes, x);
  }
}

static void store_any(const nd4c_fft_pass *pass, int64_t line, int32_t lane, int32_t lanes, const number *x) {
  int64_t offset = line_offset(pass, &pass->to, line);
  if (pass->plan->unpacking == NULL) {
    store_line(pass, offset, lane, lanes, x);
  } else if (pass->hermitian) {
    store_real_line(pass, offset, lane, lanes, x);
  } else {
    store_half_spectrum(pass, offset, lane, lanes, x);
  }
}

void nd4c_fft_lines(const nd4c_fft_pass *pass, int64_t begin, int64_t end, int32_t lanes, double complex *memory) {
  int64_t n = pass->plan->n;
  number *x = memory, *room = memory + n * lanes, *work = room + n + 1;
  for (int64_t line = begin; line < end; line += lanes) {
    int32_t count = end - line < lanes ? (int32_t)(end - line) : lanes;
    for (int32_t lane = 0; lane < count; lane++) {
      load_any(pass, line + lane, lane, count, x, room);
    }
    if (pass->inverse) {
      exchange_parts(n * count, x);
    }
    nd4c_fft_run(pass->plan, count, x, work);
    if (pass->inverse) {
      exchange_parts(n * count, x);
    }
    for (int32_t lane = 0; lane < count; lane++) {
      store_any(pass, line + lane, lane, count, x);
    }
  }
}
