/* Random numbers (random.h). Engine reference calls these, engine simd for what it does not vectorise. */
#include "kernels/reference/random/random.h"

#include <math.h>

#include "kernels/quantile.h"
#include "kernels/reference/random/laws.h"

/* -- words --------------------------------------------------------------------------------------------------------- */

/* The block that was computed last: neighbours share it. */
typedef struct cached {
  int64_t step;
  uint32_t words[4];
} cached;

static const uint32_t *block_of(const nd4c_philox *state, cached *c, int64_t step) {
  if (c->step != step) {
    nd4c_philox_block(state, (uint64_t)step, 0, c->words);
    c->step = step;
  }
  return c->words;
}

static uint32_t word32(const nd4c_philox *state, cached *c, int64_t i) {
  return block_of(state, c, i / 4)[i % 4];
}

static uint64_t word64(const nd4c_philox *state, cached *c, int64_t i) {
  return nd4c_philox_pair(block_of(state, c, i / 2) + 2 * (i % 2));
}

static double unit(uint64_t word) {
  return (double)(word >> 11) * 0x1p-53;
}

double nd4c_ref_random_unit(const nd4c_philox *state, int64_t i) {
  cached c = {.step = -1};
  return unit(word64(state, &c, i));
}

/* -- normal -------------------------------------------------------------------------------------------------------- */

double nd4c_ref_normal_quantile(double p, double from_half) {
  if (from_half <= ND4C_QUANTILE_MIDDLE) {
    return -from_half * nd4c_quantile_ratio(nd4c_quantile_middle, 0.180625 - from_half * from_half);
  }
  double r = sqrt(-log(p));
  return r <= ND4C_QUANTILE_FAR ? -nd4c_quantile_ratio(nd4c_quantile_near, r - 1.6)
                                : -nd4c_quantile_ratio(nd4c_quantile_far, r - ND4C_QUANTILE_FAR);
}

/* The word's last bit is the sign; the others are how far out. */
static double normal(uint64_t word) {
  uint64_t depth = word >> 1, rest = (UINT64_C(1) << 63) - 1 - depth;
  double x = nd4c_ref_normal_quantile(((double)depth + 0.5) * 0x1p-64, ((double)rest + 0.5) * 0x1p-64);
  return word & 1 ? -x : x;
}

static double normal_below(double x) {
  return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* Between bounds: the place u of the way between their probabilities, counted from the tail that is nearer. */
static double truncated(double u, double low, double high) {
  if (low > 0) {
    return -truncated(1 - u, -high, -low);
  }
  double p = normal_below(low) + u * (normal_below(high) - normal_below(low));
  double x = 0;
  if (p <= 0.5) {
    x = p > 0 ? nd4c_ref_normal_quantile(p, 0.5 - p) : low;
  } else {
    double q = normal_below(-high) + (1 - u) * (normal_below(-low) - normal_below(-high));
    x = q > 0 ? -nd4c_ref_normal_quantile(fmin(q, 0.5), fmax(0.5 - q, 0)) : high;
  }
  return fmin(fmax(x, low), high);
}

/* -- elements ------------------------------------------------------------------------------------------------------ */

static double element(const nd4c_ref_random *r, cached *c, int64_t i, double a, double b) {
  const nd4c_philox *state = &r->state;
  switch (r->distribution) {
    case ND4C_REF_DISTRIBUTION_uniform32: {
      double u = ldexp((double)(word32(state, c, i) >> (32 - r->bits)), -r->bits);
      return r->c[0] + u * (r->c[1] - r->c[0]);
    }
    case ND4C_REF_DISTRIBUTION_uniform64:
      return r->c[0] + unit(word64(state, c, i)) * (r->c[1] - r->c[0]);
    case ND4C_REF_DISTRIBUTION_normal:
      return r->c[0] + r->c[1] * normal(word64(state, c, i));
    case ND4C_REF_DISTRIBUTION_log_normal:
      return exp(r->c[0] + r->c[1] * normal(word64(state, c, i)));
    case ND4C_REF_DISTRIBUTION_truncated_normal: {
      double u = ((double)(word64(state, c, i) >> 11) + 0.5) * 0x1p-53;
      return r->c[0] + r->c[1] * truncated(u, r->c[2], r->c[3]);
    }
    case ND4C_REF_DISTRIBUTION_exponential:
      return r->c[1] * (0 - log(((double)word64(state, c, i) + 0.5) * 0x1p-64));
    case ND4C_REF_DISTRIBUTION_bernoulli:
      return unit(word64(state, c, i)) < a;
    default:
      break;
  }
  nd4c_ref_supply supply = nd4c_ref_supply_of(state, i);
  switch (r->distribution) {
    case ND4C_REF_DISTRIBUTION_gamma:
      return r->c[1] * nd4c_ref_gamma(&supply, a);
    case ND4C_REF_DISTRIBUTION_poisson:
      return nd4c_ref_poisson(&supply, a);
    default:
      return nd4c_ref_binomial(&supply, a, b);
  }
}

double nd4c_ref_random_element(const nd4c_ref_random *r, int64_t i, double a, double b) {
  cached c = {.step = -1};
  return element(r, &c, i, a, b);
}

double nd4c_ref_supply_normal(nd4c_ref_supply *supply) {
  return normal(nd4c_ref_supply_word(supply));
}

static double parameter(const nd4c_ref_tensor *tensor, const nd4c_ref_tensor *y, int64_t i) {
  double value = 0;
  if (tensor->data != NULL) {
    nd4c_ref_read_doubles(tensor->dtype, tensor->data, nd4c_ref_offset(tensor, y->rank, y->shape, i), 1, 1, &value);
  }
  return value;
}

static void store(const nd4c_ref_tensor *y, int64_t offset, int64_t count, const double *values) {
  if (nd4c_reference_kind(y->dtype) == ND4C_KIND_FLOAT) {
    nd4c_ref_write_doubles(y->dtype, y->data, offset, 1, count, values);
  } else {
    for (int64_t i = 0; i < count; i++) {
      nd4c_value_store(y->dtype, y->data, offset + i,
                       nd4c_value_cast(ND4C_KIND_FLOAT, (nd4c_value){.f = values[i]}, y->dtype));
    }
  }
}

void nd4c_ref_random_fill(const nd4c_ref_random *r, int64_t begin, int64_t end) {
  double values[ND4C_REF_BLOCK];
  cached c = {.step = -1};
  bool dense = nd4c_ref_is_dense(&r->y);
  for (int64_t first = begin; first < end; first += ND4C_REF_BLOCK) {
    int64_t count = end - first < ND4C_REF_BLOCK ? end - first : ND4C_REF_BLOCK;
    for (int64_t i = 0; i < count; i++) {
      values[i] = element(r, &c, first + i, parameter(&r->a, &r->y, first + i), parameter(&r->b, &r->y, first + i));
    }
    if (dense) {
      store(&r->y, first, count, values);
    }
    for (int64_t i = 0; !dense && i < count; i++) {
      store(&r->y, nd4c_ref_offset(&r->y, r->y.rank, r->y.shape, first + i), 1, &values[i]);
    }
  }
}

/* -- integers ------------------------------------------------------------------------------------------------------ */

void nd4c_ref_random_bits(const nd4c_ref_integers *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *y = &args->y;
  bool wide = nd4c_reference_bytes(y->dtype) == 8;
  cached c = {.step = -1};
  for (int64_t i = begin; i < end; i++) {
    uint64_t word = wide ? word64(&args->state, &c, i) : word32(&args->state, &c, i);
    nd4c_value_store(y->dtype, y->data, nd4c_ref_offset(y, y->rank, y->shape, i), (nd4c_value){.u = word});
  }
}

/* Lemire's product: its upper half, unless the lower half says that this value had one chance too many. */
uint64_t nd4c_ref_random_below(const nd4c_philox *state, int64_t i, uint64_t range) {
  nd4c_ref_supply supply = nd4c_ref_supply_of(state, i);
  uint64_t word = nd4c_ref_supply_word(&supply);
  if (range == 0) {
    return word;
  }
  uint64_t beyond = (0 - range) % range;
  for (;;) {
    uint64_t a = word >> 32, b = word & 0xffffffff, c = range >> 32, d = range & 0xffffffff;
    uint64_t low = b * d, middle = a * d + (low >> 32), cross = b * c + (middle & 0xffffffff);
    if ((cross << 32 | (low & 0xffffffff)) >= beyond) {
      return a * c + (middle >> 32) + (cross >> 32);
    }
    word = nd4c_ref_supply_word(&supply);
  }
}

void nd4c_ref_random_integers(const nd4c_ref_integers *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *y = &args->y;
  for (int64_t i = begin; i < end; i++) {
    nd4c_value value = {.u = (uint64_t)args->low + nd4c_ref_random_below(&args->state, i, args->range)};
    nd4c_value_store(y->dtype, y->data, nd4c_ref_offset(y, y->rank, y->shape, i), value);
  }
}

void nd4c_ref_random_order(const nd4c_philox *state, int64_t count, int64_t *order) {
  for (int64_t i = 0; i < count; i++) {
    order[i] = i;
  }
  for (int64_t i = count - 1; i > 0; i--) {
    int64_t other = (int64_t)nd4c_ref_random_below(state, i, (uint64_t)i + 1), swap = order[i];
    order[i] = order[other];
    order[other] = swap;
  }
}
