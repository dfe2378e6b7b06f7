/* Implements limits.h with the loops of bench/limits.h. run_profile.c calls it. */
#include "limits.h"

#include <stdlib.h>
#include <string.h>

#include "bench/limits.h"

/* The speed of reading `bytes` again and again, the best of several tries on one thread and on all. */
static double read_speed(const void *memory, double bytes, int width) {
  enum { TRIES = 5 };
  double best = 0;
  for (int threads = 1; threads <= width; threads = threads < width ? width : width + 1) {
    for (int i = 0; i < TRIES; i++) {
      const double most = 2e-3; /* of a try, unless one reading takes longer */
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
      const double speed = bytes * readings / taken;
      best = speed > best ? speed : best;
    }
  }
  return best;
}

bool cli_limits_measure(int width, cli_limits *limits) {
  static const nd4c_dtype dtypes[CLI_LIMIT_PEAKS] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_BFLOAT16, ND4C_INT8};
  const size_t most = (size_t)128 << 20;
  const double begin = cli_seconds();
  void *memory = malloc(most);
  if (memory == NULL) {
    return false;
  }
  memset(memory, 1, most);
  limits->width = width;
  for (int i = 0; i < CLI_LIMIT_PEAKS; i++) {
    limits->peaks[i].name = nd4c_dtype_name(dtypes[i]);
    limits->peaks[i].dtype = dtypes[i];
    limits->peaks[i].operations = 1e9 * bench_limit_gflops(dtypes[i], width);
  }
  double bytes = 32 << 10;
  for (int i = 0; i < CLI_LIMIT_SIZES; i++, bytes *= 4) {
    limits->reads[i].bytes = bytes;
    limits->reads[i].speed = read_speed(memory, bytes, width);
  }
  free(memory);
  limits->measuring = cli_seconds() - begin;
  return true;
}

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
