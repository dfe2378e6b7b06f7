/* The loops of fft.c for one float: a template of each_dtype.h, with the vectors of gemm_vector.h and SHUFFLES of them.
 * fft.c includes it; simd/signal_fft.c calls the loops. */

typedef T NAME(loose) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
/* A point of all lanes. */
typedef struct __attribute__((may_alias)) NAME(point) {
  V re, im;
} NAME(point);

#define LOOSE NAME(loose)
#define POINT NAME(point)
#define LANES ((int64_t)NAME(VECTOR_LANES))

static inline POINT NAME(add)(POINT a, POINT b) {
  return (POINT){a.re + b.re, a.im + b.im};
}

static inline POINT NAME(subtract)(POINT a, POINT b) {
  return (POINT){a.re - b.re, a.im - b.im};
}

static inline POINT NAME(multiply)(POINT a, POINT w) {
  return (POINT){FUSED(a.re, w.re, -(a.im * w.im)), FUSED(a.re, w.im, a.im * w.re)};
}

/* times -i */
static inline POINT NAME(turned)(POINT a) {
  return (POINT){a.im, -a.re};
}

static inline POINT NAME(scaled)(POINT a, T factor) {
  return (POINT){a.re * factor, a.im * factor};
}

/* a times factor, plus b */
static inline POINT NAME(fused)(POINT a, T factor, POINT b) {
  V all = factor - (V){0};
  return (POINT){FUSED(a.re, all, b.re), FUSED(a.im, all, b.im)};
}

static inline POINT NAME(conjugated)(POINT a) {
  return (POINT){a.re, -a.im};
}

/* One number for all lanes. */
static inline POINT NAME(repeat)(const T *number) {
  return (POINT){number[0] - (V){0}, number[1] - (V){0}};
}

#define ADD NAME(add)
#define SUBTRACT NAME(subtract)
#define MULTIPLY NAME(multiply)
#define TURNED NAME(turned)
#define SCALED NAME(scaled)
#define FUSED_SUM NAME(fused)
#define CONJUGATED NAME(conjugated)
#define REPEATED NAME(repeat)

/* -- steps: m groups of s butterflies, points of a butterfly m s apart in x and s apart in y ---------------------- */

static void NAME(step_2)(int64_t m, int64_t s, const T *roots, const POINT *x, POINT *y) {
  for (int64_t p = 0; p < m; p++) {
    POINT w = REPEATED(roots + 2 * p);
    const POINT *a = x + p * s, *b = a + m * s;
    POINT *to = y + 2 * p * s;
    for (int64_t q = 0; q < s; q++) {
      to[q] = ADD(a[q], b[q]);
      to[q + s] = MULTIPLY(SUBTRACT(a[q], b[q]), w);
    }
  }
}

static void NAME(step_3)(int64_t m, int64_t s, const T *roots, const POINT *x, POINT *y) {
  const T sine = (T)0.866025403784438646763723170752936183;
  for (int64_t p = 0; p < m; p++) {
    POINT w1 = REPEATED(roots + 4 * p), w2 = REPEATED(roots + 4 * p + 2);
    const POINT *a = x + p * s, *b = a + m * s, *c = b + m * s;
    POINT *to = y + 3 * p * s;
    for (int64_t q = 0; q < s; q++) {
      POINT sum = ADD(b[q], c[q]), side = SCALED(TURNED(SUBTRACT(b[q], c[q])), sine);
      POINT middle = FUSED_SUM(sum, (T)-0.5, a[q]);
      to[q] = ADD(a[q], sum);
      to[q + s] = MULTIPLY(ADD(middle, side), w1);
      to[q + 2 * s] = MULTIPLY(SUBTRACT(middle, side), w2);
    }
  }
}

static void NAME(step_4)(int64_t m, int64_t s, const T *roots, const POINT *x, POINT *y) {
  for (int64_t p = 0; p < m; p++) {
    POINT w1 = REPEATED(roots + 6 * p), w2 = REPEATED(roots + 6 * p + 2), w3 = REPEATED(roots + 6 * p + 4);
    const POINT *a = x + p * s, *b = a + m * s, *c = b + m * s, *d = c + m * s;
    POINT *to = y + 4 * p * s;
    for (int64_t q = 0; q < s; q++) {
      POINT even = ADD(a[q], c[q]), odd = ADD(b[q], d[q]);
      POINT minus = SUBTRACT(a[q], c[q]), side = TURNED(SUBTRACT(b[q], d[q]));
      to[q] = ADD(even, odd);
      to[q + s] = MULTIPLY(ADD(minus, side), w1);
      to[q + 2 * s] = MULTIPLY(SUBTRACT(even, odd), w2);
      to[q + 3 * s] = MULTIPLY(SUBTRACT(minus, side), w3);
    }
  }
}

static void NAME(step_5)(int64_t m, int64_t s, const T *roots, const POINT *x, POINT *y) {
  const T c1 = (T)0.309016994374947424102293417182819059, c2 = (T)-0.809016994374947424102293417182819059;
  const T s1 = (T)0.951056516295153572116439333379382143, s2 = (T)0.587785252292473129168705954639072769;
  for (int64_t p = 0; p < m; p++) {
    const T *w = roots + 8 * p;
    const POINT *from = x + p * s;
    POINT *to = y + 5 * p * s;
    for (int64_t q = 0; q < s; q++) {
      POINT a = from[q], b = from[q + m * s], c = from[q + 2 * m * s], d = from[q + 3 * m * s], e = from[q + 4 * m * s];
      POINT plus1 = ADD(b, e), minus1 = SUBTRACT(b, e), plus2 = ADD(c, d), minus2 = SUBTRACT(c, d);
      POINT even1 = FUSED_SUM(plus2, c2, FUSED_SUM(plus1, c1, a)),
            even2 = FUSED_SUM(plus2, c1, FUSED_SUM(plus1, c2, a));
      POINT side1 = TURNED(FUSED_SUM(minus2, s2, SCALED(minus1, s1)));
      POINT side2 = TURNED(FUSED_SUM(minus2, -s1, SCALED(minus1, s2)));
      to[q] = ADD(a, ADD(plus1, plus2));
      to[q + s] = MULTIPLY(ADD(even1, side1), REPEATED(w));
      to[q + 2 * s] = MULTIPLY(ADD(even2, side2), REPEATED(w + 2));
      to[q + 3 * s] = MULTIPLY(SUBTRACT(even2, side2), REPEATED(w + 4));
      to[q + 4 * s] = MULTIPLY(SUBTRACT(even1, side1), REPEATED(w + 6));
    }
  }
}

static void *NAME(run)(const nd4c_fft_steps *steps, void *vx, void *vy) {
  POINT *x = vx, *y = vy;
  const T *roots = steps->roots;
  int64_t left = steps->n, done = 1;
  for (int32_t i = 0; i < steps->count; i++) {
    int64_t radix = steps->radix[i];
    left /= radix;
    if (radix == 4) {
      NAME(step_4)(left, done, roots, x, y);
    } else if (radix == 2) {
      NAME(step_2)(left, done, roots, x, y);
    } else if (radix == 3) {
      NAME(step_3)(left, done, roots, x, y);
    } else {
      NAME(step_5)(left, done, roots, x, y);
    }
    roots += 2 * left * (radix - 1);
    done *= radix;
    POINT *result = y;
    y = x;
    x = result;
  }
  return x;
}

/* -- joined numbers ----------------------------------------------------------------------------------------------- */

static inline POINT NAME(load)(const T *joined) {
  V first = *(const LOOSE *)joined, last = *(const LOOSE *)(joined + LANES);
  return (POINT){__builtin_shufflevector(first, last, SHUFFLES(EVENS)),
                 __builtin_shufflevector(first, last, SHUFFLES(ODDS))};
}

static inline void NAME(store)(POINT x, T *joined) {
  *(LOOSE *)joined = __builtin_shufflevector(x.re, x.im, SHUFFLES(FIRST));
  *(LOOSE *)(joined + LANES) = __builtin_shufflevector(x.re, x.im, SHUFFLES(LAST));
}

/* The lanes in the opposite order. */
static inline POINT NAME(reversed)(POINT x) {
  return (POINT){__builtin_shufflevector(x.re, x.re, SHUFFLES(DOWN)),
                 __builtin_shufflevector(x.im, x.im, SHUFFLES(DOWN))};
}

static void NAME(split)(int64_t points, void *tile, bool exchange, bool conjugate) {
  POINT *x = tile;
  for (int64_t k = 0; k < points; k++) {
    POINT value = NAME(load)((const T *)tile + 2 * LANES * k);
    x[k].re = exchange ? value.im : value.re;
    x[k].im = exchange ? value.re : conjugate ? -value.im : value.im;
  }
}

static void NAME(join)(int64_t points, const void *tile, double scale, bool exchange, bool conjugate, void *joined) {
  const POINT *x = tile;
  const T factor = (T)scale;
  for (int64_t k = 0; k < points; k++) {
    POINT value = SCALED(x[k], factor);
    V im = conjugate ? -value.im : value.im;
    NAME(store)(exchange ? (POINT){im, value.re} : (POINT){value.re, im}, (T *)joined + 2 * LANES * k);
  }
}

/* -- real lines --------------------------------------------------------------------------------------------------- */

/* Numbers k and pairs - k of the pairs' transform become those of the points'. */
static inline void NAME(part)(POINT w, POINT *low, POINT *high) {
  POINT other = CONJUGATED(*high), even = SCALED(ADD(*low, other), (T)0.5);
  POINT odd = TURNED(MULTIPLY(SCALED(SUBTRACT(*low, other), (T)0.5), w));
  *low = ADD(even, odd);
  *high = CONJUGATED(SUBTRACT(even, odd));
}

/* And back, for the inverse transform without its factor 1 / pairs. */
static inline void NAME(unite)(POINT w, POINT *low, POINT *high) {
  POINT other = CONJUGATED(*high), even = ADD(*low, other);
  POINT odd = TURNED(MULTIPLY(SUBTRACT(*low, other), CONJUGATED(w)));
  *low = SUBTRACT(even, odd);
  *high = CONJUGATED(ADD(even, odd));
}

static void NAME(unpack)(int64_t pairs, const void *vroots, void *tile) {
  const T *roots = vroots;
  POINT *x = tile;
  x[pairs] = x[0];
  for (int64_t k = 0; 2 * k <= pairs; k++) {
    POINT low = x[k], high = x[pairs - k];
    NAME(part)(REPEATED(roots + 2 * k), &low, &high);
    x[k] = low;
    x[pairs - k] = high;
  }
}

static void NAME(pack)(int64_t pairs, const void *vroots, void *tile) {
  const T *roots = vroots;
  POINT *x = tile;
  x[0].im = x[pairs].im = (V){0};
  for (int64_t k = 0; 2 * k <= pairs; k++) {
    POINT low = x[k], high = x[pairs - k];
    NAME(unite)(REPEATED(roots + 2 * k), &low, &high);
    x[k] = (POINT){low.im, low.re};
    x[pairs - k] = (POINT){high.im, high.re};
  }
}

/* -- long lines: lanes are neighbours ----------------------------------------------------------------------------- */

/* w^k of a number of lanes from k on, or of fewer up to the end of the lower table. */
static inline POINT NAME(roots_from)(const nd4c_fft_roots *roots, int64_t k) {
  int64_t low = k & ((INT64_C(1) << roots->bits) - 1);
  const double *high = roots->high + 2 * (k >> roots->bits);
  const T rounded[2] = {(T)high[0], (T)high[1]};
  return MULTIPLY(NAME(load)((const T *)roots->low_rounded + 2 * low), REPEATED(rounded));
}

static inline POINT NAME(one_root)(const nd4c_fft_roots *roots, int64_t k) {
  const double *high = roots->high + 2 * (k >> roots->bits);
  const double *low = roots->low + 2 * (k & ((INT64_C(1) << roots->bits) - 1));
  const T product[2] = {(T)(high[0] * low[0] - high[1] * low[1]), (T)(high[0] * low[1] + high[1] * low[0])};
  return REPEATED(product);
}

/* A number alone as a point whose lanes are all the same. */
static inline void NAME(store_one)(POINT x, bool conjugate, T *to) {
  to[0] = x.re[0];
  to[1] = conjugate ? -x.im[0] : x.im[0];
}

static void NAME(unpack_line)(int64_t pairs, const nd4c_fft_roots *roots, int64_t begin, int64_t end, bool conjugate,
                              void *vx) {
  T *x = vx;
  int64_t k = begin;
  const T sign = conjugate ? -1 : 1;
  while (k < end) {
    int64_t mirror = pairs - k;
    bool whole = k > 0 && k + LANES <= end && k + LANES <= mirror - LANES + 1 && (k & (LANES - 1)) == 0;
    if (whole) {
      POINT low = NAME(load)(x + 2 * k), high = NAME(reversed)(NAME(load)(x + 2 * (mirror - LANES + 1)));
      NAME(part)(NAME(roots_from)(roots, k), &low, &high);
      low.im *= sign;
      high.im *= sign;
      NAME(store)(low, x + 2 * k);
      NAME(store)(NAME(reversed)(high), x + 2 * (mirror - LANES + 1));
      k += LANES;
    } else {
      POINT low = REPEATED(x + 2 * k), high = REPEATED(x + (k == 0 ? 0 : 2 * mirror));
      NAME(part)(NAME(one_root)(roots, k), &low, &high);
      NAME(store_one)(low, conjugate, x + 2 * k);
      NAME(store_one)(high, conjugate, x + 2 * mirror);
      k++;
    }
  }
}

static void NAME(pack_line)(int64_t pairs, const nd4c_fft_roots *roots, int64_t begin, int64_t end, bool conjugate,
                            const void *vx, void *vy) {
  const T *x = vx, sign = conjugate ? -1 : 1;
  T *y = vy;
  int64_t k = begin;
  while (k < end) {
    int64_t mirror = pairs - k;
    bool whole = k > 0 && k + LANES <= end && k + LANES <= mirror - LANES + 1 && (k & (LANES - 1)) == 0;
    if (whole) {
      POINT low = NAME(load)(x + 2 * k), high = NAME(reversed)(NAME(load)(x + 2 * (mirror - LANES + 1)));
      low.im *= sign;
      high.im *= sign;
      NAME(unite)(NAME(roots_from)(roots, k), &low, &high);
      NAME(store)(low, y + 2 * k);
      NAME(store)(NAME(reversed)(high), y + 2 * (mirror - LANES + 1));
      k += LANES;
    } else {
      POINT low = REPEATED(x + 2 * k), high = REPEATED(x + 2 * mirror);
      low.im *= sign;
      high.im *= sign;
      if (k == 0) {
        low.im = high.im = (V){0};
      }
      NAME(unite)(NAME(one_root)(roots, k), &low, &high);
      NAME(store_one)(low, false, y + 2 * k);
      if (k > 0) {
        NAME(store_one)(high, false, y + 2 * mirror);
      }
      k++;
    }
  }
}

static void NAME(twist)(int64_t points, const nd4c_fft_roots *roots, int64_t first, const void *lane_roots,
                        void *tile) {
  const POINT *lanes = lane_roots;
  POINT *x = tile;
  for (int64_t k = 0, product = 0; k < points; k++, product += first) {
    x[k] = MULTIPLY(x[k], MULTIPLY(lanes[k], NAME(one_root)(roots, product)));
  }
}

#undef LOOSE
#undef POINT
#undef LANES
#undef ADD
#undef SUBTRACT
#undef MULTIPLY
#undef TURNED
#undef SCALED
#undef FUSED_SUM
#undef CONJUGATED
#undef REPEATED
