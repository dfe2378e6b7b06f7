/* Plans for lines of one length: factors and roots of unity. signal_fft.c makes one for each axis when it prepares a
 * call. */
#include <string.h>

#include "backends/cpu/simd/signal_lines.h"
#include "kernels/reference/signal/signal.h"

enum {
  TILE_POINTS = 4096,   /* of a line at most: a tile of longer ones would leave the cache */
  LONG_LINE = 2048,     /* points that pay for the matrix where there are too few lines for a tile */
  LONGEST_BITS = 26,    /* of a length */
  LEAST_TABLE_BITS = 5, /* a vector of roots comes from one table */
};

static int32_t factorize(int64_t n, int32_t *factors) {
  static const int32_t radixes[] = {4, 2, 3, 5};
  int32_t count = 0;
  for (size_t i = 0; i < sizeof radixes / sizeof *radixes; i++) {
    for (; n % radixes[i] == 0; n /= radixes[i]) {
      factors[count++] = radixes[i];
    }
  }
  return n == 1 ? count : -1;
}

bool nd4c_fft_length_fits(int64_t length, bool real) {
  int32_t factors[64];
  int64_t points = real ? length / 2 : length;
  return length > 0 && length <= INT64_C(1) << LONGEST_BITS && (!real || length % 2 == 0) &&
         factorize(points, factors) >= 0;
}

bool nd4c_fft_is_long(const nd4c_fft_loops *loops, int64_t points, int64_t lines) {
  return points > TILE_POINTS || (2 * lines < loops->lanes && points >= LONG_LINE);
}

/* -- memory: laid out once to learn its size, then in earnest ------------------------------------------------------ */

typedef struct room {
  char *base;
  size_t used;
} room;

static void *take(room *r, int64_t count, size_t bytes) {
  void *place = r->base != NULL ? r->base + r->used : NULL;
  r->used += ((size_t)count * bytes + 63) / 64 * 64;
  return place;
}

static void set_root(bool single, void *table, int64_t at, int64_t k, int64_t n) {
  double complex root = nd4c_fft_root(k % n, n);
  if (single) {
    ((float *)table)[2 * at] = (float)creal(root);
    ((float *)table)[2 * at + 1] = (float)cimag(root);
  } else {
    ((double *)table)[2 * at] = creal(root);
    ((double *)table)[2 * at + 1] = cimag(root);
  }
}

static void lay_steps(room *r, bool single, int64_t n, nd4c_fft_steps *steps) {
  int64_t roots = 0, left = n, at = 0;
  *steps = (nd4c_fft_steps){.n = n};
  steps->count = factorize(n, steps->radix);
  for (int32_t i = 0; i < steps->count; i++) {
    left /= steps->radix[i];
    roots += left * (steps->radix[i] - 1);
  }
  void *table = take(r, roots, single ? 8 : 16);
  steps->roots = table;
  left = n;
  for (int32_t i = 0; table != NULL && i < steps->count; i++) {
    int64_t whole = left;
    left /= steps->radix[i];
    for (int64_t p = 0; p < left; p++) {
      for (int64_t k = 1; k < steps->radix[i]; k++) {
        set_root(single, table, at++, p * k, whole);
      }
    }
  }
}

static void lay_roots(room *r, bool single, int64_t n, nd4c_fft_roots *roots) {
  roots->bits = LEAST_TABLE_BITS;
  while (INT64_C(1) << (2 * roots->bits) < n) {
    roots->bits++;
  }
  int64_t lower = INT64_C(1) << roots->bits, upper = n / lower + 1;
  double *high = take(r, upper, 16), *low = take(r, lower, 16);
  void *rounded = take(r, lower, single ? 8 : 16);
  for (int64_t k = 0; high != NULL && k < upper; k++) {
    set_root(false, high, k, k * lower, n);
  }
  for (int64_t k = 0; low != NULL && k < lower; k++) {
    set_root(false, low, k, k, n);
    set_root(single, rounded, k, k, n);
  }
  roots->high = high;
  roots->low = low;
  roots->low_rounded = rounded;
}

/* w^(k l) of the columns' points k and the lanes l, parts apart. */
static void lay_lane_roots(room *r, nd4c_fft_lines_plan *plan) {
  int64_t lanes = plan->loops->lanes;
  void *table = take(r, plan->rows * lanes, plan->single ? 8 : 16);
  plan->lane_roots = table;
  for (int64_t i = 0; table != NULL && i < plan->rows * lanes; i++) {
    int64_t k = i / lanes, lane = i % lanes, re = 2 * k * lanes + lane;
    double complex root = nd4c_fft_root(k * lane % plan->points, plan->points);
    if (plan->single) {
      ((float *)table)[re] = (float)creal(root);
      ((float *)table)[re + lanes] = (float)cimag(root);
    } else {
      ((double *)table)[re] = creal(root);
      ((double *)table)[re + lanes] = cimag(root);
    }
  }
}

/* As square as can be, sides of whole vectors if there are any. */
static void choose_matrix(nd4c_fft_lines_plan *plan) {
  int64_t lanes = plan->loops->lanes, best = 1, even = 0;
  for (int64_t rows = 1; rows * rows <= plan->points; rows++) {
    if (plan->points % rows != 0) {
      continue;
    }
    best = rows;
    if (rows % lanes == 0 && plan->points / rows % lanes == 0) {
      even = rows;
    }
  }
  plan->rows = even > 0 ? even : best;
  plan->columns = plan->points / plan->rows;
}

static void lay_out(room *r, nd4c_fft_lines_plan *plan) {
  lay_steps(r, plan->single, plan->is_long ? plan->rows : plan->points, &plan->steps);
  if (plan->is_long) {
    lay_steps(r, plan->single, plan->columns, &plan->row_steps);
    lay_roots(r, plan->single, plan->points, &plan->roots);
    lay_lane_roots(r, plan);
    if (plan->real) {
      lay_roots(r, plan->single, plan->length, &plan->real_roots);
    }
  } else if (plan->real) {
    int64_t count = plan->length / 4 + 1;
    void *table = take(r, count, plan->single ? 8 : 16);
    for (int64_t k = 0; table != NULL && k < count; k++) {
      set_root(plan->single, table, k, k, plan->length);
    }
    plan->unpacking = table;
  }
}

bool nd4c_fft_lines_plan_make(nd4c_fft_lines_plan *plan, bool single, bool real, int64_t length, int64_t lines) {
  *plan = (nd4c_fft_lines_plan){.loops = &nd4c_simd.fft->of[single], .single = single, .real = real, .length = length};
  plan->points = real ? length / 2 : length;
  plan->is_long = nd4c_fft_is_long(plan->loops, plan->points, lines);
  if (plan->is_long) {
    choose_matrix(plan);
  }
  room r = {.base = NULL};
  lay_out(&r, plan);
  plan->bytes = r.used + 64;
  plan->memory = nd4c_cpu_host->allocate_pages(plan->bytes);
  if (plan->memory == NULL) {
    return false;
  }
  r = (room){.base = plan->memory};
  lay_out(&r, plan);
  return true;
}

void nd4c_fft_lines_plan_free(nd4c_fft_lines_plan *plan) {
  if (plan->memory != NULL) {
    nd4c_cpu_host->free_pages(plan->memory, plan->bytes);
  }
  plan->memory = NULL;
}
