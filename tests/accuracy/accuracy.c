/* Measures the errors of the kernels of every engine, at every level of the processor, in units in the last place.
 * Prints the worst errors and their arguments in a table; fails if an error exceeds the function's limit.
 *
 *   nd4c_accuracy [--points FILE] [--values N] [--function NAME] [--math fast]
 *   nd4c_accuracy --exhaustive [NAME] [--engine NAME] [--stride N] [--threads N]
 *
 * float32 is walked through in even steps of its bit patterns, float64 by random ones, so that all exponents have their
 * share; then ranges evenly, and all neighbours of zeros and turning points. Where float32 may be off by 1 unit, engine
 * simd is walked through in much smaller steps, and through every number of intervals known to be hard: a few dozen
 * results in a hundred million are easily missed. float16 and bfloat16 are tried whole. FILE
 * has results in arbitrary precision (points.py), with which the oracle of the other values is checked, too.
 *
 * --math fast measures the faster tier (nd4c.cpu.math) in place of the usual one.
 *
 * --exhaustive walks through all 2^32 patterns of float32 (or each N-th) instead: minutes a function. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernels/providers.h"
#include "accuracy.h"
#include "base/threads/cpu.h"
#include "device/memory/host.h"
#include "kernels/reference/support/value.h"
#include "ops/op.h"

enum { NEIGHBOURS = 64, COLUMNS = 5 };

static nd4c_host host;
static const char *level;
static int64_t value_count = 60000;
static bool failed;

static const char *chosen_level(void) {
  return level;
}

static bool fast_config(const char *property, char *text, size_t text_size) {
  if (strcmp(property, "nd4c.cpu.math") != 0) {
    return nd4c_host_table()->config(property, text, text_size);
  }
  (void)snprintf(text, text_size, "fast");
  return true;
}

static void *need(size_t bytes) {
  void *memory = calloc(1, bytes > 0 ? bytes : 1);
  if (memory == NULL) {
    (void)fputs("nd4c_accuracy: no memory\n", stderr);
    exit(2);
  }
  return memory;
}

static uint64_t random_bits(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/* -- numbers of a dtype ------------------------------------------------------------------------------------------- */

const format formats[FORMATS] = {{ND4C_FLOAT32, "float32", 24, -149, 128},
                                 {ND4C_FLOAT64, "float64", 53, -1074, 1024},
                                 {ND4C_FLOAT16, "float16", 11, -24, 16},
                                 {ND4C_BFLOAT16, "bfloat16", 8, -133, 128}};

/* The faster tier's limits for the function that is measured now; NULL: the usual tier. */
static const fast_function *fast;

static long double unit(const format *f, long double x) {
  int exponent = 0;
  x = fast != NULL && fast->absolute ? fmaxl(fabsl(x), 1) : x;
  if (x != 0) {
    (void)frexpl(x, &exponent);
  }
  return ldexpl(1, x != 0 && exponent - f->digits > f->lowest ? exponent - f->digits : f->lowest);
}

double accuracy_distance(const format *f, double got, long double high, long double low) {
  long double beyond = ldexpl(1, f->highest), wanted = high + low;
  if (isnan(wanted) || isnan(got)) {
    return isnan(wanted) && isnan(got) ? 0 : INFINITY;
  }
  if (fabsl(wanted) >= beyond) {
    return isinf(got) && (got > 0) == (wanted > 0) ? 0 : INFINITY;
  }
  long double number = isinf(got) ? copysignl(beyond, got) : got;
  return (double)(fabsl((number - high) - low) / unit(f, wanted));
}

/* -- values to try ------------------------------------------------------------------------------------------------- */

typedef struct samples {
  int64_t count, capacity;
  double *x, *y;           /* operands */
  long double *high, *low; /* the true result in two parts */
  bool *unsure;
} samples;

static double as_format(const format *f, double x) {
  return f->dtype == ND4C_FLOAT32 ? (double)(float)x : x;
}

static void add(samples *s, const format *f, double x, double y) {
  if (s->count < s->capacity) {
    s->x[s->count] = as_format(f, x);
    s->y[s->count++] = as_format(f, y);
  }
}

static double from_bits(const format *f, uint64_t bits) {
  if (f->dtype == ND4C_FLOAT64) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
  }
  uint32_t word = (uint32_t)bits;
  float x;
  memcpy(&x, &word, sizeof x);
  return (double)x;
}

static double next_after(const format *f, double x, int steps) {
  for (int i = 0; i < abs(steps); i++) {
    x = f->dtype == ND4C_FLOAT32 ? (double)nextafterf((float)x, steps > 0 ? INFINITY : -INFINITY)
                                 : nextafter(x, steps > 0 ? INFINITY : -INFINITY);
  }
  return x;
}

static void allocate(samples *s, int64_t capacity) {
  *s = (samples){.capacity = capacity};
  s->x = need((size_t)capacity * sizeof *s->x);
  s->y = need((size_t)capacity * sizeof *s->y);
  s->high = need((size_t)capacity * sizeof *s->high);
  s->low = need((size_t)capacity * sizeof *s->low);
  s->unsure = need((size_t)capacity * sizeof *s->unsure);
}

static void release(samples *s) {
  free(s->x);
  free(s->y);
  free(s->high);
  free(s->low);
  free(s->unsure);
}

static double uniform(double low, double high) {
  return low + (high - low) * (double)(random_bits() >> 11) * 0x1p-53;
}

/* An exponent with which the power of a is between the smallest and the largest number, or a little beyond. */
static double exponent_for(const format *f, double a) {
  double log = log2(fabs(a));
  if (random_bits() % 8 == 0 || !isfinite(log) || log == 0) {
    return rint(uniform(-40, 40)) / (random_bits() % 2 == 0 ? 1 : 2);
  }
  return uniform(1.02 * f->lowest, 1.02 * f->highest) / log;
}

/* The second operand for x: beside x in size, or anything. */
static double partner(const format *f, const function *of, double x) {
  if (strcmp(of->op, "power") == 0) {
    return exponent_for(f, x);
  }
  uint64_t bits = random_bits();
  return bits % 4 == 0 ? from_bits(f, bits >> 2) : bits % 4 == 1 ? x * uniform(-3, 3) : uniform(of->low, of->high);
}

static void choose(samples *s, const format *f, const function *of) {
  static const double special[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 2, -2, 0.5, -0.5, 3, -3, 1e300, 1e-300};
  bool half = f->dtype != ND4C_FLOAT32 && f->dtype != ND4C_FLOAT64;
  for (uint32_t i = 0; half && i < 1 << 16; i++) {
    uint16_t bits = (uint16_t)i;
    add(s, f, nd4c_value_load(f->dtype, (const char *)&bits, 0).f, 0);
  }
  if (half) {
    return;
  }
  for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
    for (size_t j = 0; j < (of->pair ? sizeof special / sizeof *special : 1); j++) {
      add(s, f, special[i], special[j]);
    }
  }
  for (int i = 0; i < CENTERS && of->centers[i] != 0; i++) {
    for (int step = -NEIGHBOURS; step <= NEIGHBOURS; step++) {
      double x = next_after(f, as_format(f, of->centers[i]), step);
      add(s, f, x, of->pair ? partner(f, of, x) : 0);
      add(s, f, -x, of->pair ? rint(uniform(-9, 9)) : 0);
    }
  }
  int64_t rest = s->capacity - s->count, wide = rest / 2;
  for (int64_t i = 0; i < wide; i++) {
    uint64_t bits = f->dtype == ND4C_FLOAT64 ? random_bits()
                                             : (uint64_t)i * (UINT64_C(1) << 32) / (uint64_t)wide + random_bits() % 64;
    double x = from_bits(f, bits);
    x = of->pair && i % 4 != 0 ? fabs(x) : x;
    add(s, f, x, of->pair ? partner(f, of, x) : 0);
  }
  while (s->count < s->capacity) {
    double x = as_format(f, uniform(of->low, of->high));
    add(s, f, x, of->pair ? partner(f, of, x) : 0);
  }
}

/* -- running ------------------------------------------------------------------------------------------------------- */

const nd4c_kernel *accuracy_find_kernel(const char *op, const char *engine) {
  return cpu_kernel(op, engine, 0);
}

typedef struct worst {
  double error, x, y, got;
} worst;

void accuracy_call_make(accuracy_call *c, const function *of, nd4c_dtype dtype, int64_t count, void *x, void *y,
                        void *result) {
  static const int64_t stride = 1;
  void *memory[] = {x, y, result};
  const nd4c_op_info *info = NULL;
  *c = (accuracy_call){.count = count};
  if (nd4c_op_find(of->op, &info) != ND4C_OK) {
    return;
  }
  for (int32_t i = 0; i < info->attr_count; i++) {
    c->attrs[i] = info->attrs[i].preset;
  }
  if (of->approximate) {
    c->attrs[0].as.i = 1;
  }
  for (int i = 0; i < 3; i++) {
    c->tensors[i] = (nd4c_tensor){.dtype = dtype,
                                  .rank = 1,
                                  .flags = ND4C_TENSOR_CONTIGUOUS,
                                  .shape = &c->count,
                                  .strides = &stride,
                                  .size = count,
                                  .data = memory[i]};
  }
  c->call = (nd4c_call){.struct_size = ND4C_SIZE_OF(nd4c_call),
                        .op = info,
                        .input_count = of->pair ? 2 : 1,
                        .output_count = 1,
                        .inputs = c->tensors,
                        .outputs = &c->tensors[2],
                        .attrs = c->attrs,
                        .width = 1};
}

bool accuracy_call_run(accuracy_call *c, const nd4c_kernel *kernel) {
  char reason[256];
  return c->call.op != NULL && ((kernel->dtypes >> c->tensors[0].dtype) & 1) != 0 &&
         (kernel->usable == NULL || kernel->usable(&c->call, reason, sizeof reason)) &&
         kernel->run(&c->call) == ND4C_OK;
}

/* Zero keeps its sign, or takes the oracle's. */
static bool has_wrong_zero(const samples *s, int64_t i, double got) {
  return s->x[i] == 0 && s->high[i] == 0 && got == 0 && !signbit(got) != !signbit(s->high[i]);
}

/* One piece of the samples through a kernel. False: the kernel declines. */
static bool run_piece(const nd4c_kernel *kernel, const function *of, const format *f, const samples *s, int64_t begin,
                      int64_t count, worst *w) {
  static _Alignas(64) char memory[3][PIECE * sizeof(double)];
  accuracy_call call;
  for (int64_t i = 0; i < count; i++) {
    nd4c_value_store(f->dtype, memory[0], i, (nd4c_value){.f = s->x[begin + i]});
    nd4c_value_store(f->dtype, memory[1], i, (nd4c_value){.f = s->y[begin + i]});
  }
  accuracy_call_make(&call, of, f->dtype, count, memory[0], memory[1], memory[2]);
  if (!accuracy_call_run(&call, kernel)) {
    return false;
  }
  for (int64_t i = 0; i < count; i++) {
    double got = nd4c_value_load(f->dtype, memory[2], i).f;
    double error = s->unsure[begin + i] ? 0 : accuracy_distance(f, got, s->high[begin + i], s->low[begin + i]);
    error = !of->pair && has_wrong_zero(s, begin + i, got) ? INFINITY : error;
    if (error > w->error) {
      *w = (worst){error, s->x[begin + i], s->y[begin + i], got};
    }
  }
  return true;
}

/* 16-bit floats: float32's result, rounded, whose error may be as large as float32's limit. */
static double bar_of(const function *of, const format *f) {
  if (fast != NULL) {
    return fast->bar;
  }
  if (f->dtype == ND4C_FLOAT64) {
    return of->float64;
  }
  return f->dtype == ND4C_FLOAT32 ? of->float32 : 0.5 + of->float32 * ldexp(1, f->digits - 24);
}

static void report(const function *of, const format *f, const char *source, const char *engine, const worst *w) {
  bool doubtful = f->dtype == ND4C_FLOAT64 && strcmp(source, "dense") == 0;
  double bar = bar_of(of, f) + (doubtful ? of->doubt : 0);
  bool beyond = w->error > bar * (1 + 0x1p-10); /* the oracle's own rounding */
  failed = failed || beyond;
  char where[80] = "";
  if (w->error > 0) {
    (void)snprintf(where, sizeof where, of->pair ? "%.17g, %.17g" : "%.17g", w->x, w->y);
  }
  printf("%-10s %-8s %-9s %-16s %9.4f %6.3f %s %s\n", of->name, f->name, source, engine, w->error, bar,
         beyond ? "FAIL" : "ok  ", where);
}

/* Reference first, then simd at each level; the backend is reopened for each. */
static void measure_engine(const function *of, const format *f, const char *source, const samples *s,
                           const char *engine) {
  char name[32];
  worst w = {0};
  bool ran = true;
  const nd4c_kernel *kernel = accuracy_find_kernel(of->op, engine);
  for (int64_t i = 0; kernel != NULL && ran && i < s->count; i += PIECE) {
    ran = run_piece(kernel, of, f, s, i, s->count - i < PIECE ? s->count - i : PIECE, &w);
  }
  (void)snprintf(name, sizeof name, "%s%s%s", engine, strcmp(engine, "simd") == 0 ? "." : "",
                 strcmp(engine, "simd") == 0 ? level : "");
  if (kernel != NULL && ran) {
    report(of, f, source, name, &w);
  }
}

bool accuracy_open(int i, const char **name) {
  *name = level = nd4c_cpu_level_name(i);
  return i <= nd4c_cpu_highest_level() && cpu_providers_open();
}

void accuracy_close(void) {
  cpu_providers_close();
}

static void measure(const function *of, const format *f, const char *source, const samples *s) {
  for (int i = 0; i < LEVELS; i++) {
    const char *name;
    if (!accuracy_open(i, &name)) {
      continue;
    }
    if (i == 0 && strcmp(source, "scan") != 0 && fast == NULL) {
      measure_engine(of, f, source, s, "reference");
    }
    measure_engine(of, f, source, s, "simd");
    accuracy_close();
  }
}

static void measure_dense(const function *of, const format *f) {
  samples s;
  bool half = f->dtype != ND4C_FLOAT32 && f->dtype != ND4C_FLOAT64;
  if (half && of->pair) {
    return;
  }
  allocate(&s, half ? 1 << 16 : value_count);
  choose(&s, f, of);
  for (int64_t i = 0; i < s.count; i++) {
    s.high[i] = of->oracle(s.x[i], s.y[i]);
    s.unsure[i] = f->dtype == ND4C_FLOAT64 && of->unsure != NULL && of->unsure(s.x[i], s.y[i]);
  }
  measure(of, f, "dense", &s);
  release(&s);
}

/* -- float32 in small steps --------------------------------------------------------------------------------------- */

/* Numbers of both signs from low to high. */
static void scan(const function *of, float low, float high, uint32_t step) {
  const format *f = &formats[0];
  uint32_t begin = 0, end = 0;
  memcpy(&begin, &low, sizeof begin);
  memcpy(&end, &high, sizeof end);
  samples s;
  allocate(&s, 2 * ((int64_t)(end - begin) / step + 1));
  for (uint32_t bits = begin; bits <= end; bits += step) {
    add(&s, f, from_bits(f, bits), 0);
    add(&s, f, -from_bits(f, bits), 0);
  }
  for (int64_t i = 0; i < s.count; i++) {
    s.high[i] = of->oracle(s.x[i], s.y[i]);
  }
  measure(of, f, "scan", &s);
  release(&s);
}

/* Odd steps, so that all values of the last bits occur. The reference computes in f64 and has no hard intervals. */
static void measure_scan(const function *of) {
  /* Where whole scans found the worst results. */
  static const struct {
    const char *name;
    float low, high;
  } hard[] = {
      {"sin", 2.36f, 2.39f},  {"mish", 5.1f, 5.3f},   {"exp", 4.5f, 4.52f},     {"exp", 15.59f, 15.61f},
      {"exp", 37.7f, 37.8f},  {"exp", 59.9f, 59.95f}, {"tanh", 0.599f, 0.602f}, {"tanh", 0.83f, 0.9f},
      {"erf", 0.78f, 0.801f}, {"erf", 1.01f, 1.06f},
  };
  bool coarse = of->float32 > 1;
  level = "base";
  if (of->pair || !cpu_providers_open()) {
    return;
  }
  bool has = accuracy_find_kernel(of->op, "simd") != NULL;
  cpu_providers_close();
  if (!has) {
    return;
  }
  scan(of, 0x1p-7f, 0x1p6f, coarse ? 997 : 97);
  scan(of, 0, INFINITY, coarse ? 65537 : 16381);
  for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
    if (strcmp(hard[i].name, of->name) == 0) {
      scan(of, hard[i].low, hard[i].high, 1);
    }
  }
}

/* -- points in arbitrary precision -------------------------------------------------------------------------------- */

/* The oracle against the points: it must be right within a sixteenth of a unit where functions.h claims that. */
static void check_oracle(const function *of, const format *f, samples *s) {
  worst w = {0};
  for (int64_t i = 0; i < s->count; i++) {
    long double got = of->oracle(s->x[i], s->y[i]), wanted = s->high[i] + s->low[i];
    if (of->unsure != NULL && of->unsure(s->x[i], s->y[i])) {
      continue;
    }
    double error = isnan(got) && isnan(wanted) ? 0
                   : fabsl(wanted) >= ldexpl(1, f->highest)
                       ? (fabsl(got) >= ldexpl(1, f->highest) ? 0 : INFINITY)
                       : (double)(fabsl((got - s->high[i]) - s->low[i]) / unit(f, wanted));
    if (error > w.error) {
      w = (worst){error, s->x[i], s->y[i], (double)got};
    }
  }
  bool wide = sizeof(long double) > sizeof(double);
  if (wide && w.error > fmax(0.0625, of->doubt)) {
    printf("%-10s %-8s the oracle is off by %g at %.17g, %.17g\n", of->name, f->name, w.error, w.x, w.y);
    failed = true;
  }
}

static const function *find_function(const char *name) {
  for (int i = 0; i < function_count; i++) {
    if (strcmp(functions[i].name, name) == 0) {
      return &functions[i];
    }
  }
  return NULL;
}

/* One block: name (16 bytes), dtype's name (16 bytes), count (int64), then x, y, high, low and the exponent of
 * both, all doubles. */
static bool measure_block(FILE *file, const char *only) {
  char name[16], dtype[16];
  int64_t count = 0;
  if (fread(name, 16, 1, file) != 1) {
    return false;
  }
  if (fread(dtype, 16, 1, file) != 1 || fread(&count, sizeof count, 1, file) != 1 || count < 0 || count > 1 << 24) {
    (void)fputs("nd4c_accuracy: the file of points is damaged\n", stderr);
    exit(2);
  }
  name[15] = dtype[15] = '\0';
  const function *of = find_function(name);
  const format *f = strcmp(dtype, "float32") == 0 ? &formats[0] : &formats[1];
  double *columns = need((size_t)count * COLUMNS * sizeof *columns);
  samples s;
  allocate(&s, count);
  s.count = count;
  if (of == NULL || fread(columns, sizeof *columns, (size_t)count * COLUMNS, file) != (size_t)count * COLUMNS) {
    (void)fprintf(stderr, "nd4c_accuracy: the file of points has no whole %s\n", name);
    exit(2);
  }
  for (int64_t i = 0; i < count; i++) {
    s.x[i] = columns[i];
    s.y[i] = columns[count + i];
    int exponent = (int)fmin(fmax(columns[4 * count + i], -99999), 99999);
    s.high[i] = ldexpl(columns[2 * count + i], exponent);
    s.low[i] = ldexpl(columns[3 * count + i], exponent);
  }
  if (only == NULL || strcmp(only, name) == 0) {
    check_oracle(of, f, &s);
    measure(of, f, "points", &s);
  }
  free(columns);
  release(&s);
  return true;
}

static void measure_points(const char *path, const char *only) {
  char magic[8];
  FILE *file = fopen(path, "rb");
  if (file == NULL || fread(magic, sizeof magic, 1, file) != 1 || memcmp(magic, "ND4CPTS1", sizeof magic) != 0) {
    (void)fprintf(stderr, "nd4c_accuracy: %s cannot be read; tests/accuracy/points.py makes it\n", path);
    exit(2);
  }
  while (measure_block(file, only)) {
  }
  (void)fclose(file);
}

typedef struct options {
  const char *points, *only, *exhaustive, *engine, *math;
  uint32_t stride, first;
  int32_t threads;
} options;

static options read_options(int count, char **arguments) {
  options o = {.engine = "", .math = "", .stride = 1};
  for (int i = 1; i < count; i++) {
    bool has = i + 1 < count && strncmp(arguments[i + 1], "--", 2) != 0;
    const char *name = arguments[i], *value = has ? arguments[++i] : "";
    if (strcmp(name, "--points") == 0) {
      o.points = value;
    } else if (strcmp(name, "--function") == 0) {
      o.only = value;
    } else if (strcmp(name, "--values") == 0) {
      value_count = strtoll(value, NULL, 10);
    } else if (strcmp(name, "--exhaustive") == 0) {
      o.exhaustive = value;
    } else if (strcmp(name, "--engine") == 0) {
      o.engine = value;
    } else if (strcmp(name, "--math") == 0) {
      o.math = value;
    } else if (strcmp(name, "--stride") == 0) {
      o.stride = (uint32_t)strtoul(value, NULL, 10);
    } else if (strcmp(name, "--first") == 0) {
      o.first = (uint32_t)strtoul(value, NULL, 10);
    } else if (strcmp(name, "--threads") == 0) {
      o.threads = (int32_t)strtol(value, NULL, 10);
    }
  }
  return o;
}

static void measure_function(const function *of) {
  for (size_t f = 0; f < (fast != NULL ? 1 : FORMATS); f++) {
    measure_dense(of, &formats[f]);
  }
  measure_scan(of);
}

static void measure_functions(const char *only, bool fast_ones) {
  for (int i = 0; i < function_count; i++) {
    fast = fast_ones ? accuracy_fast_find(functions[i].name) : NULL;
    if ((fast != NULL) == fast_ones && (only == NULL || strcmp(only, functions[i].name) == 0)) {
      measure_function(&functions[i]);
    }
  }
}

int main(int count, char **arguments) {
  options o = read_options(count, arguments);
  bool fast_ones = strcmp(o.math, "fast") == 0;
  host = *nd4c_host_table();
  host.cpu_level = chosen_level;
  host.config = fast_ones ? fast_config : host.config;
  if (!cpu_providers_enter(&host)) {
    return 2;
  }
  printf("%-10s %-8s %-9s %-16s %9s %6s      %s\n", "function", "dtype", "values", "engine", "worst ulp", "bar", "at");
  if (o.exhaustive != NULL) {
    return accuracy_exhaust(o.exhaustive, o.engine, o.stride, o.first, o.threads) ? 0 : 1;
  }
  if (o.only == NULL && !fast_ones) {
    failed = !accuracy_halves();
  }
  if (o.points != NULL && !fast_ones) {
    measure_points(o.points, o.only);
  }
  measure_functions(o.only, fast_ones);
  return failed ? 1 : 0;
}
