/* Implements limits.h with the loops of bench/limits.h. run_profile.c and run_bodies.c call it. */
#include "limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/limits.h"

/* Tries of a read in a row; tries of a peak, one before the reads of each size: what else runs for a while disturbs
 * some of them. */
enum { READ_TRIES = 5, PEAK_TRIES = CLI_LIMIT_SIZES };
/* A second try that reaches this part of the best one confirms it. Threads that had less than this part of the
 * processors' time waited for other programs. */
static const double agreeing = 0.8;

/* -- measuring ------------------------------------------------------------------------------------------------------
 */

bool cli_limits_disagree(const double *tries, int count) {
  double best = 0, second = 0;
  for (int i = 0; i < count; i++) {
    second = tries[i] > best ? best : tries[i] > second ? tries[i] : second;
    best = tries[i] > best ? tries[i] : best;
  }
  return second < agreeing * best;
}

static double best_of(const double *tries, int count) {
  double best = 0;
  for (int i = 0; i < count; i++) {
    best = tries[i] > best ? tries[i] : best;
  }
  return best;
}

/* One try: the speed of reading `bytes` again and again. */
static double try_read(const void *memory, double bytes, int threads) {
  const double most = 2e-3; /* unless one reading takes longer */
  int readings = 0;
  volatile double sum = 0;
  const double begin = cli_seconds();
  double taken = 0;
  for (int between = 1; taken < most; between = 2 * between) { /* the clock takes as long as a small reading */
    for (int k = 0; k < between; k++) {
      sum = sum + bench_limit_read(memory, (size_t)bytes, threads);
    }
    readings += between;
    taken = cli_seconds() - begin;
  }
  return bytes * readings / taken;
}

/* The better of one thread and all, each the best of its tries. */
static double read_speed(const void *memory, double bytes, int width, bool *unsure) {
  double best = 0;
  for (int threads = 1; threads <= width; threads = threads < width ? width : width + 1) {
    double tries[READ_TRIES];
    for (int i = 0; i < READ_TRIES; i++) {
      tries[i] = try_read(memory, bytes, threads);
    }
    if (best_of(tries, READ_TRIES) > best) {
      best = best_of(tries, READ_TRIES);
      *unsure = cli_limits_disagree(tries, READ_TRIES);
    }
  }
  return best;
}

/* Seconds of trying peaks: by the clock, and those that the threads computed. */
typedef struct try_times {
  double taken, computed;
} try_times;

static double try_peak(nd4c_dtype dtype, int width, try_times *times) {
  enum { ATTEMPTS = 2 }; /* the first one may wake the threads */
  const double begin = cli_seconds(), before = cli_processor_seconds();
  const double operations = 1e9 * bench_limit_gflops_best(dtype, width, ATTEMPTS);
  if (operations > 0) {
    times->taken += cli_seconds() - begin;
    times->computed += cli_processor_seconds() - before;
  }
  return operations;
}

/* All tries of a busy machine may be equally wrong, each a slice of time too long. The threads' own time tells. */
static void doubt_all(cli_limits *limits) {
  for (int i = 0; i < CLI_LIMIT_PEAKS; i++) {
    limits->peaks[i].unsure = limits->peaks[i].operations > 0;
  }
  for (int i = 0; i < CLI_LIMIT_SIZES; i++) {
    limits->reads[i].unsure = true;
  }
}

bool cli_limits_measure(int width, cli_limits *limits) {
  static const nd4c_dtype dtypes[CLI_LIMIT_PEAKS] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_BFLOAT16, ND4C_INT8};
  const size_t most = (size_t)128 << 20;
  const double begin = cli_seconds();
  double tries[CLI_LIMIT_PEAKS][PEAK_TRIES], bytes = 32 << 10;
  try_times times = {0};
  void *memory = malloc(most);
  if (memory == NULL) {
    return false;
  }
  memset(memory, 1, most);
  *limits = (cli_limits){.width = width};
  for (int size = 0; size < CLI_LIMIT_SIZES; size++, bytes *= 4) {
    for (int i = 0; i < CLI_LIMIT_PEAKS; i++) {
      tries[i][size] = try_peak(dtypes[i], width, &times);
    }
    limits->reads[size].bytes = bytes;
    limits->reads[size].speed = read_speed(memory, bytes, width, &limits->reads[size].unsure);
  }
  free(memory);
  for (int i = 0; i < CLI_LIMIT_PEAKS; i++) {
    limits->peaks[i].name = nd4c_dtype_name(dtypes[i]);
    limits->peaks[i].dtype = dtypes[i];
    limits->peaks[i].operations = best_of(tries[i], PEAK_TRIES);
    limits->peaks[i].unsure = cli_limits_disagree(tries[i], PEAK_TRIES);
  }
  limits->processor = times.taken > 0 ? times.computed / (times.taken * bench_limit_threads(width)) : 1;
  if (limits->processor < agreeing) {
    doubt_all(limits);
  }
  limits->measuring = cli_seconds() - begin;
  return true;
}

/* -- comparing ------------------------------------------------------------------------------------------------------
 */

/* Of a dtype without a loop of its own: float16 counts as bfloat16, 8-bit integers as int8, all others as float32. */
static double peak_of(const cli_limits *limits, nd4c_dtype dtype) {
  const nd4c_dtype counted = dtype == ND4C_FLOAT16 ? ND4C_BFLOAT16 : dtype == ND4C_UINT8 ? ND4C_INT8 : dtype;
  for (int i = 1; i < CLI_LIMIT_PEAKS; i++) {
    if (limits->peaks[i].dtype == counted && limits->peaks[i].operations > 0) {
      return limits->peaks[i].operations;
    }
  }
  return limits->peaks[0].operations;
}

double cli_limits_seconds(const cli_limits *limits, nd4c_dtype dtype, double operations, double bytes) {
  const double peak = peak_of(limits, dtype);
  int level = 0;
  while (level + 1 < CLI_LIMIT_SIZES && limits->reads[level + 1].bytes <= bytes) {
    level++;
  }
  const double computing = peak > 0 ? operations / peak : 0, moving = bytes / limits->reads[level].speed;
  return computing > moving ? computing : moving;
}

/* -- telling --------------------------------------------------------------------------------------------------------
 */

enum { LIMITS = CLI_LIMIT_PEAKS + CLI_LIMIT_SIZES };

/* "float32" or "reads of 32.0 KiB" if limit `i` of all is unsure, else NULL. */
static const char *unsure_name(const cli_limits *limits, int i, char *buffer, size_t size) {
  char bytes[32];
  const int at = i - CLI_LIMIT_PEAKS;
  if (at < 0) {
    return limits->peaks[i].unsure ? limits->peaks[i].name : NULL;
  }
  if (!limits->reads[at].unsure) {
    return NULL;
  }
  (void)snprintf(buffer, size, "reads of %s", cli_bytes_text((int64_t)limits->reads[at].bytes, bytes, sizeof bytes));
  return buffer;
}

void cli_limits_print(const cli_limits *limits, FILE *file) {
  char text[64];
  (void)fprintf(file, "limits, measured now in %.2f s:", limits->measuring);
  for (int i = 0; i < CLI_LIMIT_PEAKS; i++) {
    if (limits->peaks[i].operations > 0) {
      (void)fprintf(file, " %s %.0f GFLOP/s,", limits->peaks[i].name, 1e-9 * limits->peaks[i].operations);
    }
  }
  for (int i = 0; i < CLI_LIMIT_SIZES; i++) {
    (void)fprintf(file, "%s %.0f GB/s of %s", i == 0 ? " reads" : ",", 1e-9 * limits->reads[i].speed,
                  cli_bytes_text((int64_t)limits->reads[i].bytes, text, sizeof text));
  }
  (void)fprintf(file, "\n");
  const char *between = "  the machine was busy, the column limit is unreliable where it rests on: ", *end = "";
  for (int i = 0; i < LIMITS; i++) {
    const char *name = unsure_name(limits, i, text, sizeof text);
    if (name != NULL) {
      (void)fprintf(file, "%s%s", between, name);
      between = ", ";
      end = "\n";
    }
  }
  (void)fprintf(file, "%s", end);
}

void cli_limits_add(const cli_limits *limits, cJSON *object) {
  char text[64];
  (void)cJSON_AddNumberToObject(object, "seconds", limits->measuring);
  (void)cJSON_AddNumberToObject(object, "width", limits->width);
  (void)cJSON_AddNumberToObject(object, "processor", limits->processor);
  cJSON *peaks = cJSON_AddObjectToObject(object, "gflops"), *reads = cJSON_AddArrayToObject(object, "reads");
  cJSON *unreliable = cJSON_AddArrayToObject(object, "unreliable");
  for (int i = 0; i < CLI_LIMIT_PEAKS; i++) {
    (void)cJSON_AddNumberToObject(peaks, limits->peaks[i].name, 1e-9 * limits->peaks[i].operations);
  }
  for (int i = 0; i < CLI_LIMIT_SIZES; i++) {
    cJSON *item = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(item, "bytes", limits->reads[i].bytes);
    (void)cJSON_AddNumberToObject(item, "gbps", 1e-9 * limits->reads[i].speed);
    (void)cJSON_AddItemToArray(reads, item);
  }
  for (int i = 0; i < LIMITS; i++) {
    const char *name = unsure_name(limits, i, text, sizeof text);
    if (name != NULL) {
      (void)cJSON_AddItemToArray(unreliable, cJSON_CreateString(name));
    }
  }
}
