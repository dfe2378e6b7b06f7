/* All 2^32 patterns of float32, or every n-th, through engines and levels. The oracle is the C library in f64, or a
 * formula of it: good to a millionth of float32's unit in the last place. A result that seems worse than all before is
 * judged again by the oracle in long double. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accuracy.h"
#include "base/threads/parallel.h"

enum { BLOCK = 1 << 20, WORKERS = 64, ENGINES = LEVELS + 1, PROGRESS_SECONDS = 5 };

/* -- oracles in f64 ------------------------------------------------------------------------------------------------ */

#define OF_LIBRARY(name)                                    \
  static double name##_fast(const function *of, double x) { \
    (void)of;                                               \
    return name(x);                                         \
  }
OF_LIBRARY(exp)
OF_LIBRARY(expm1)
OF_LIBRARY(log)
OF_LIBRARY(log1p)
OF_LIBRARY(sin)
OF_LIBRARY(cos)
OF_LIBRARY(tan)
OF_LIBRARY(tanh)
OF_LIBRARY(erf)
OF_LIBRARY(erfc)
OF_LIBRARY(sqrt)
OF_LIBRARY(lgamma)
OF_LIBRARY(exp2)
OF_LIBRARY(log2)
OF_LIBRARY(log10)
OF_LIBRARY(sinh)
OF_LIBRARY(cosh)
OF_LIBRARY(asin)
OF_LIBRARY(acos)
OF_LIBRARY(atan)
OF_LIBRARY(asinh)
OF_LIBRARY(acosh)
OF_LIBRARY(atanh)
OF_LIBRARY(cbrt)
#undef OF_LIBRARY

/* Where a formula of f64 would lose digits, or would be written twice. */
static double by_oracle(const function *of, double x) {
  return (double)of->oracle((long double)x, 0);
}

static double sigmoid_fast(const function *of, double x) {
  (void)of;
  return 1 / (1 + exp(-x));
}

static double softplus_fast(const function *of, double x) {
  (void)of;
  return x > 100 ? x : log1p(exp(x));
}

static double swish_fast(const function *of, double x) {
  (void)of;
  return isinf(x) && x < 0 ? 0 : x / (1 + exp(-x));
}

static double mish_fast(const function *of, double x) {
  (void)of;
  return x > 100 ? x : isinf(x) ? 0 : x * tanh(log1p(exp(x)));
}

static double elu_fast(const function *of, double x) {
  (void)of;
  return x > 0 ? x : expm1(x);
}

static double gelu_fast(const function *of, double x) {
  (void)of;
  return isinf(x) && x < 0 ? 0 : x * erfc(-x * 0.70710678118654752440) / 2;
}

static double gelu_tanh_fast(const function *of, double x) {
  (void)of;
  return isinf(x) && x < 0 ? 0 : x / (1 + exp(-1.5957691216057307117 * (x + 0.044715 * x * x * x)));
}

/* Where terms cancel, the oracle in long double. */
static double digamma_fast(const function *of, double x) {
  static const double terms[] = {1 / 12.0, -1 / 120.0, 1 / 252.0, -1 / 240.0, 1 / 132.0, -691 / 32760.0, 1 / 12.0};
  double sum = 0, z = x < 0 ? 1 - x : x, mirrored = 0;
  if (!(fabs(x) > 0 && fabs(x) < 0x1p23)) {
    return (double)of->oracle((long double)x, 0);
  }
  if (x < 0) {
    mirrored = 3.14159265358979323846 / tan(3.14159265358979323846 * (x - rint(x)));
  }
  for (; z < 12; z++) {
    sum -= 1 / z;
  }
  double inverse = 1 / (z * z), power = inverse, most = log(z) - 1 / (2 * z);
  for (int i = 0; i < 7; i++, power *= inverse) {
    sum -= terms[i] * power;
  }
  double y = sum + most - mirrored;
  bool near_zero = fabs(y) < 0.125 * (most + fabs(mirrored)) || x == rint(x);
  return near_zero ? (double)of->oracle((long double)x, 0) : y;
}

static const struct {
  const char *name;
  double (*oracle)(const function *of, double x);
} fast[] = {{"exp", exp_fast},
            {"expm1", expm1_fast},
            {"log", log_fast},
            {"log1p", log1p_fast},
            {"sin", sin_fast},
            {"cos", cos_fast},
            {"tan", tan_fast},
            {"tanh", tanh_fast},
            {"erf", erf_fast},
            {"erfc", erfc_fast},
            {"sqrt", sqrt_fast},
            {"gelu", gelu_fast},
            {"gelu_tanh", gelu_tanh_fast},
            {"sigmoid", sigmoid_fast},
            {"softplus", softplus_fast},
            {"lgamma", lgamma_fast},
            {"digamma", digamma_fast},
            {"mish", mish_fast},
            {"swish", swish_fast},
            {"elu", elu_fast},
            {"exp2", exp2_fast},
            {"log2", log2_fast},
            {"log10", log10_fast},
            {"sinh", sinh_fast},
            {"cosh", cosh_fast},
            {"asin", asin_fast},
            {"acos", acos_fast},
            {"atan", atan_fast},
            {"asinh", asinh_fast},
            {"acosh", acosh_fast},
            {"atanh", atanh_fast},
            {"cbrt", cbrt_fast},
            {"rsqrt", by_oracle},
            {"logit", by_oracle},
            {"sinc", by_oracle},
            {"deg2rad", by_oracle},
            {"rad2deg", by_oracle},
            {"tanh_shrink", by_oracle},
            {"rational_tanh", by_oracle},
            {"rectified_tanh", by_oracle},
            {"erfinv", by_oracle},
            {"i0", by_oracle},
            {"i1", by_oracle},
            {"gamma", by_oracle}};

/* -- one function -------------------------------------------------------------------------------------------------- */

typedef struct worst {
  double error, x;
  uint64_t beyond; /* numbers beyond the limit */
} worst;

typedef struct tally {
  const char *engine, *level;
  const nd4c_kernel *kernel;
  worst workers[WORKERS];
} tally;

typedef struct scan {
  const function *of;
  double (*oracle)(const function *of, double x);
  uint64_t first;       /* of this block: number of the pattern */
  uint32_t step, begin; /* the patterns are begin, begin + step, ... */
  double *wanted;
  tally *now;
} scan;

static float pattern(const scan *s, int64_t i) {
  uint32_t bits = (uint32_t)(s->begin + (s->first + (uint64_t)i) * s->step);
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static void compute_wanted(void *user, int64_t begin, int64_t end, int32_t worker) {
  scan *s = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    s->wanted[i] = s->oracle(s->of, (double)pattern(s, i));
  }
}

/* accuracy_distance in f64, without its calls. Zero must have the right sign at 0 and -0. */
static double distance(float x, float got, double wanted) {
  if (isnan(wanted) || isnan(got)) {
    return isnan(wanted) && isnan(got) ? 0 : INFINITY;
  }
  if (fabs(wanted) >= 0x1p128) {
    return isinf(got) && (got > 0) == (wanted > 0) ? 0 : INFINITY;
  }
  if (x == 0 && wanted == 0 && !signbit(got) != !signbit(wanted)) {
    return INFINITY;
  }
  double number = isinf(got) ? copysign(0x1p128, (double)got) : (double)got, size = fabs(wanted);
  uint64_t bits;
  size = size < 0x1p-126 ? 0x1p-126 : size;
  memcpy(&bits, &size, sizeof bits);
  bits = (UINT64_C(2069) << 52) - (bits & UINT64_C(0x7ff0000000000000)); /* one over the unit */
  memcpy(&size, &bits, sizeof size);
  return fabs(number - wanted) * size;
}

static void judge_one(const scan *s, worst *w, float x, float got, double wanted) {
  double bar = s->of->float32, error = distance(x, got, wanted);
  if (error <= w->error && error <= bar) {
    return;
  }
  if (error < INFINITY) {
    error = accuracy_distance(&formats[0], (double)got, s->of->oracle((long double)x, 0), 0);
  }
  w->beyond += error > bar + 0x1p-20;
  if (error > w->error) {
    w->error = error;
    w->x = (double)x;
  }
}

static void judge(void *user, int64_t begin, int64_t end, int32_t worker) {
  const scan *s = user;
  worst *w = &s->now->workers[worker];
  float x[PIECE], y[PIECE];
  accuracy_call call;
  for (int64_t i = begin; i < end; i += PIECE) {
    int64_t count = end - i < PIECE ? end - i : PIECE;
    for (int64_t j = 0; j < count; j++) {
      x[j] = pattern(s, i + j);
    }
    accuracy_call_make(&call, s->of, ND4C_FLOAT32, count, x, x, y);
    if (!accuracy_call_run(&call, s->now->kernel)) {
      w->beyond++;
      w->error = INFINITY;
      return;
    }
    for (int64_t j = 0; j < count; j++) {
      judge_one(s, w, x[j], y[j], s->wanted[i + j]);
    }
  }
}

/* Every engine at every level over the block of which `wanted` is known. */
static void judge_block(scan *s, tally *tallies, int64_t count, int32_t threads, const char *engine) {
  for (int i = 0; i < LEVELS; i++) {
    const char *level;
    if (!accuracy_open(i, &level)) {
      continue;
    }
    for (int k = i == 0 ? 0 : 1; k < 2; k++) { /* the reference has no levels */
      const char *name = k == 0 ? "reference" : "simd";
      tally *t = &tallies[k == 0 ? LEVELS : i];
      t->kernel = engine[0] == '\0' || strcmp(engine, name) == 0 ? accuracy_find_kernel(s->of->op, name) : NULL;
      if (t->kernel == NULL) {
        continue;
      }
      t->engine = name;
      t->level = k == 0 ? "" : level;
      s->now = t;
      nd4c_parallel_for(count, PIECE, threads, judge, s);
    }
    accuracy_close();
  }
}

static bool report(const function *of, const tally *t, uint32_t step) {
  worst w = {0};
  char values[24] = "all", engine[32];
  for (int i = 0; i < WORKERS; i++) {
    w.beyond += t->workers[i].beyond;
    if (t->workers[i].error > w.error) {
      w.error = t->workers[i].error;
      w.x = t->workers[i].x;
    }
  }
  if (step > 1) {
    (void)snprintf(values, sizeof values, "each %" PRIu32, step);
  }
  (void)snprintf(engine, sizeof engine, "%s%s%s", t->engine, t->level[0] != '\0' ? "." : "", t->level);
  printf("%-10s %-8s %-9s %-16s %9.6f %6.3f %s %.9g", of->name, "float32", values, engine, w.error, of->float32,
         w.beyond > 0 ? "FAIL" : "ok  ", w.x);
  if (w.beyond > 0) {
    printf(" (%" PRIu64 " numbers beyond the bar)", w.beyond);
  }
  printf("\n");
  (void)fflush(stdout);
  return w.beyond == 0;
}

static bool exhaust(scan *s, const char *engine, int32_t threads) {
  static tally tallies[ENGINES];
  uint64_t total = ((UINT64_C(1) << 32) - s->begin + s->step - 1) / s->step;
  time_t told = time(NULL);
  bool good = true;
  memset(tallies, 0, sizeof tallies);
  for (s->first = 0; s->first < total; s->first += BLOCK) {
    int64_t count = total - s->first < BLOCK ? (int64_t)(total - s->first) : BLOCK;
    nd4c_parallel_for(count, PIECE, threads, compute_wanted, s);
    judge_block(s, tallies, count, threads, engine);
    if (time(NULL) - told >= PROGRESS_SECONDS) {
      told = time(NULL);
      (void)fprintf(stderr, "%s: %.1f %% of %" PRIu64 " numbers\n", s->of->name,
                    100 * (double)(s->first + BLOCK) / (double)total, total);
    }
  }
  for (int i = 0; i < ENGINES; i++) {
    if (tallies[i].engine != NULL) {
      good = report(s->of, &tallies[i], s->step) && good;
    }
  }
  return good;
}

bool accuracy_exhaust(const char *name, const char *engine, uint32_t step, uint32_t begin, int32_t threads) {
  bool good = true, found = false;
  double *wanted = malloc(BLOCK * sizeof *wanted);
  threads = threads < 1 ? nd4c_parallel_width() : threads;
  threads = threads > WORKERS ? WORKERS : threads;
  for (size_t i = 0; wanted != NULL && i < sizeof fast / sizeof *fast; i++) {
    for (int k = 0; k < function_count; k++) {
      if (strcmp(functions[k].name, fast[i].name) != 0 || (name[0] != '\0' && strcmp(name, fast[i].name) != 0)) {
        continue;
      }
      scan s = {.of = &functions[k], .oracle = fast[i].oracle, .step = step | 1, .begin = begin, .wanted = wanted};
      found = true;
      good = exhaust(&s, engine, threads) && good;
    }
  }
  free(wanted);
  if (!found) {
    (void)fprintf(stderr, "nd4c_accuracy: no memory, or no exhaustive scan of \"%s\"\n", name);
  }
  return good && found;
}
