/* Attention of one float: a template of each_dtype.h with the names of gemm_vector.h, which attention.c includes.
 *
 * A panel passes in parts of two vectors of queries, one query a lane. Scores of a block of keys are the product k q^T,
 * and results the product v^T scores: only q is packed, and the softmax of every query runs down a lane. A running
 * maximum and a running sum make later blocks correct earlier ones. All parts take a block of keys before the next
 * block, so that its keys and values are read, and copied or widened, once for all of them. What a part computes does
 * not depend on the other parts. */

enum { NAME(LANES) = VECTOR_BYTES / sizeof(T), NAME(WIDE) = 2 * NAME(LANES) };
enum { NAME(PARTS) = ND4C_ATTEND_LANES / NAME(WIDE) };

#include "kernels/cpu/contraction/gemm_strip.h"

/* A block of keys with their values, as the parts read it. */
typedef struct NAME(block) {
  int64_t first, count; /* the number of the first one among all keys */
  const T *k, *v;
  const uint16_t *k_halves; /* for pairs of bfloat16, instead of k */
  int64_t k_step, k_feature, v_step, v_feature;
} NAME(block);

/* The running state of a part: `width` lanes are computed, WIDE apart. */
typedef struct NAME(state) {
  const nd4c_attend_panel *panel;
  const nd4c_attend_lane *lane;
  int64_t lanes, width, first, last; /* first, last: the keys that any of the lanes takes */
  T factor;                          /* for scores, unless q holds the scale already: then 1 */
  T *q, *scores;                     /* [head] and [KEYS] of WIDE lanes */
  T *y, *part;                       /* [v_head] of them: of all blocks so far, and of one */
  T *k, *v;                          /* a block's keys and values, if they are copied or widened */
  bool pairs;                        /* products of pairs of bfloat16: */
  uint32_t *q_pairs;                 /* [head / 2] of WIDE lanes */
  uint32_t *shares;                  /* [KEYS / 2] of them: what weighs two values */
  uint32_t *v_pairs;                 /* [KEYS / 2, v_head]: values of two keys side by side */
  bool any, careful;                 /* y holds earlier blocks; values whose share is 0 are skipped */
  T top[NAME(WIDE)];                 /* the largest score so far */
  T sum[NAME(WIDE)];                 /* of e^(score - top) */
  T back[NAME(WIDE)];                /* what corrects earlier sums: e^(top before - top) */
} NAME(state);

/* -- operands --------------------------------------------------------------------------------------------------- */

static T NAME(element)(nd4c_attend_storage storage, const void *data, int64_t at) {
  if (storage == ND4C_ATTEND_PLAIN) {
    return ((const T *)data)[at];
  }
  uint16_t bits = ((const uint16_t *)data)[at];
  return (T)(storage == ND4C_ATTEND_BFLOAT16 ? nd4c_bfloat16_to_float(bits) : nd4c_float16_to_float(bits));
}

/* `count` rows of `n` halves, row_step apart, to rows without gaps. f64 has no such operands. */
static void NAME(widen)(nd4c_attend_storage storage, int64_t count, int64_t n, const uint16_t *from, int64_t row_step,
                        int64_t step, T *to) {
  for (int64_t row = 0; row < count; row++, from += row_step, to += n) {
    if (sizeof(T) == sizeof(float) && step == 1 && storage == ND4C_ATTEND_BFLOAT16) {
      nd4c_widen_bfloat16(n, from, (float *)(void *)to);
    } else if (sizeof(T) == sizeof(float) && step == 1) {
      nd4c_widen_float16(n, from, (float *)(void *)to);
    } else {
      for (int64_t i = 0; i < n; i++) {
        to[i] = NAME(element)(storage, from, i * step);
      }
    }
  }
}

/* True if a product with the scale is exact, underflow aside. */
static bool NAME(scales_exactly)(double scale) {
  int exponent = 0;
  return fabs(frexp(scale, &exponent)) == 0.5;
}

/* True if four lanes from `l` on are evenly spaced, `step` elements apart, in rows without gaps: then squares of f32
 * are transposed in registers. `at`: the addresses of their rows. */
static bool NAME(are_square)(const NAME(state) * s, int64_t l, int64_t feature, const void *const *at, int64_t *step) {
  if (sizeof(T) != sizeof(uint32_t) || s->panel->storage != ND4C_ATTEND_PLAIN || feature != 1 || l + 4 > s->lanes) {
    return false;
  }
  const T *rows[4] = {at[0], at[1], at[2], at[3]};
  *step = rows[1] - rows[0];
  return rows[2] - rows[1] == *step && rows[3] - rows[2] == *step;
}

/* Queries l to l + 3, whose features lie side by side. */
static void NAME(load_square)(NAME(state) * s, int64_t l, int64_t step) {
  const T *q = s->lane[l].q;
  int64_t i = 0;
  for (; i + 4 <= s->panel->head; i += 4) {
    nd4c_transpose_4((const void *)(q + i), step, (void *)(s->q + i * NAME(WIDE) + l), NAME(WIDE));
  }
  for (; i < s->panel->head; i++) {
    for (int64_t lane = 0; lane < 4; lane++) {
      s->q[i * NAME(WIDE) + l + lane] = q[lane * step + i];
    }
  }
}

/* Queries of bfloat16 become pairs: as words of two features, they are only transposed. The first lanes of the panel
 * must be evenly spaced in fours; false if they are not. */
static bool NAME(load_pairs)(NAME(state) * s) {
  const nd4c_attend_panel *p = s->panel;
  const int64_t words = p->head / 2;
  if (!s->pairs || p->q_feature != 1 || words % 4 != 0 || s->lanes % 4 != 0) {
    return false;
  }
  for (int64_t l = 0; l < s->lanes; l += 4) {
    const uint16_t *rows[4] = {s->lane[l].q, s->lane[l + 1].q, s->lane[l + 2].q, s->lane[l + 3].q};
    const int64_t step = rows[1] - rows[0];
    if (step % 2 != 0 || (uintptr_t)rows[0] % sizeof(uint32_t) != 0 || rows[2] - rows[1] != step ||
        rows[3] - rows[2] != step) {
      return false;
    }
    for (int64_t i = 0; i < words; i += 4) {
      nd4c_transpose_4((const void *)(rows[0] + 2 * i), step / 2, s->q_pairs + i * NAME(WIDE) + l, NAME(WIDE));
    }
  }
  for (int64_t i = 0; i < words; i++) {
    for (int64_t l = s->lanes; l < s->width; l++) {
      s->q_pairs[i * NAME(WIDE) + l] = 0;
    }
  }
  return true;
}

static void NAME(load_queries)(NAME(state) * s, T factor) {
  const nd4c_attend_panel *p = s->panel;
  int64_t l = 0, step;
  while (l < s->lanes) {
    const nd4c_attend_lane *lane = &s->lane[l];
    const void *rows[] = {lane[0].q, lane[1].q, lane[2].q, lane[3].q};
    if (NAME(are_square)(s, l, p->q_feature, rows, &step)) {
      NAME(load_square)(s, l, step);
      l += 4;
      continue;
    }
    for (int64_t i = 0; i < p->head; i++) {
      s->q[i * NAME(WIDE) + l] = NAME(element)(p->storage, lane->q, i * p->q_feature);
    }
    l++;
  }
  for (int64_t i = 0; i < p->head; i++) {
    T *row = s->q + i * NAME(WIDE);
    for (l = s->lanes; l < s->width; l++) {
      row[l] = 0;
    }
    for (l = 0; l < s->width; l += NAME(LANES)) {
      STORE(row + l, LOAD(row + l) * REPEAT(factor));
    }
  }
}

/* -- scores ----------------------------------------------------------------------------------------------------- */

static void NAME(cap_scores)(const NAME(state) * s, int64_t count) {
  T cap = (T)s->panel->softcap;
  for (int64_t i = 0; i < count * NAME(WIDE); i++) {
    s->scores[i] *= s->factor;
  }
  for (int64_t i = 0; cap > 0 && i < count * NAME(WIDE); i++) {
    s->scores[i] = cap * NAME(nd4c_tanh)(s->scores[i] / cap);
  }
}

static T NAME(bias_at)(const nd4c_attend_panel *p, const void *mask, int64_t at) {
  if (p->mask == ND4C_ATTEND_CHOSEN) {
    return ((const uint8_t *)mask)[at] != 0 ? 0 : -(T)INFINITY;
  }
  return NAME(element)(p->storage, mask, at);
}

/* A key that a mask leaves out stays out even if its score is NaN. */
static inline T NAME(biased)(T score, T bias) {
  return bias == -(T)INFINITY ? bias : score + bias;
}

static void NAME(mask_scores)(const NAME(state) * s, int64_t first, int64_t count) {
  const nd4c_attend_panel *p = s->panel;
  for (int64_t i = 0; p->mask_is_shared && i < count; i++) {
    T bias = NAME(bias_at)(p, s->lane[0].mask, (first + i) * p->mask_step);
    T *row = s->scores + i * NAME(WIDE);
    for (int64_t l = 0; l < NAME(WIDE); l++) {
      row[l] = NAME(biased)(row[l], bias);
    }
  }
  for (int64_t l = 0; !p->mask_is_shared && l < s->lanes; l++) {
    T *column = s->scores + l;
    for (int64_t i = 0; i < count; i++) {
      column[i * NAME(WIDE)] =
          NAME(biased)(column[i * NAME(WIDE)], NAME(bias_at)(p, s->lane[l].mask, (first + i) * p->mask_step));
    }
  }
}

/* Leaves out the keys beyond each lane's own bounds. */
static void NAME(bound_scores)(const NAME(state) * s, int64_t first, int64_t count) {
  for (int64_t l = 0; l < s->lanes; l++) {
    int64_t from = s->lane[l].first - first, to = s->lane[l].last - first;
    T *column = s->scores + l;
    for (int64_t i = 0; i < from && i < count; i++) {
      column[i * NAME(WIDE)] = -(T)INFINITY;
    }
    for (int64_t i = to > 0 ? to : 0; i < count; i++) {
      column[i * NAME(WIDE)] = -(T)INFINITY;
    }
  }
}

static void NAME(multiply_keys)(const NAME(state) * s, const T *k, int64_t step, int64_t feature, int64_t count) {
  const NAME(rows_of_a) keys = {.data = k, .row = step, .step = feature};
  NAME(strips_below)
  (count, s->width, 0, s->panel->head, keys, (NAME(panel_of_b)){s->q, NAME(WIDE), false}, (NAME(ahead)){.from = s->q},
   s->scores, NAME(WIDE), false, s->panel->head, NULL);
}

/* Products become scores. */
static void NAME(finish_scores)(const NAME(state) * s, int64_t first, int64_t count) {
  const nd4c_attend_panel *p = s->panel;
  if (s->factor != 1 || p->softcap > 0) {
    NAME(cap_scores)(s, count);
  }
  if (p->mask != ND4C_ATTEND_UNMASKED) {
    NAME(mask_scores)(s, first, count);
  }
  NAME(bound_scores)(s, first, count);
}

/* -- softmax ---------------------------------------------------------------------------------------------------- */

/* The larger of each lane; b where a is NaN. */
ND4C_INLINED V NAME(larger)(V a, V b) {
#if defined(__AVX512F__)
  return sizeof(T) == 4 ? (V)_mm512_max_ps((__m512)a, (__m512)b) : (V)_mm512_max_pd((__m512d)a, (__m512d)b);
#else
  for (int l = 0; l < NAME(LANES); l++) {
    b[l] = a[l] > b[l] ? a[l] : b[l];
  }
  return b;
#endif
}

/* e^x for x up to 0 or NaN. */
ND4C_INLINED V NAME(exponential)(V x) {
#if defined(__AVX512F__)
  return sizeof(T) == 4 ? (V)nd4c_exp_sixteen((__m512)x) : (V)nd4c_exp_eight((__m512d)x);
#else
#if defined(__AVX2__) && defined(__FMA__)
  if (sizeof(T) == 4) {
    return (V)nd4c_exp_eight_f32((__m256)x);
  }
#endif
  T e[NAME(LANES)];
  STORE(e, x);
  for (int l = 0; l < NAME(LANES); l++) {
    e[l] = NAME(nd4c_exp)(e[l]);
  }
  return LOAD(e);
#endif
}

/* How shares are computed: exactly enough for values that may be infinite; for finite values; or to be rounded to
 * bfloat16. */
typedef enum NAME(shares) { NAME(EXACT), NAME(QUICK), NAME(ROUNDED) } NAME(shares);

/* e^x for shares. */
ND4C_INLINED V NAME(share)(V x, NAME(shares) shares) {
#if defined(__AVX512F__)
  return shares == NAME(ROUNDED) ? (V)pair_exponential((__m512)x) : NAME(exponential)(x);
#else
#if defined(__AVX2__) && defined(__FMA__)
  if (sizeof(T) == 4 && shares == NAME(QUICK)) {
    return (V)nd4c_share_eight_f32((__m256)x);
  }
#endif
  (void)shares;
  return NAME(exponential)(x);
#endif
}

/* Scores become e^(score - top) in the lanes of `vectors` vectors. That and `shares` are constants where this is
 * called. */
ND4C_INLINED void NAME(soften)(NAME(state) * s, int64_t count, int vectors, NAME(shares) shares) {
  V top[2], sum[2];
  for (int v = 0; v < vectors; v++) {
    top[v] = LOAD(s->top + v * NAME(LANES));
    sum[v] = REPEAT(0);
  }
  for (int64_t i = 0; i < count; i++) {
    for (int v = 0; v < vectors; v++) {
      top[v] = NAME(larger)(LOAD(s->scores + i * NAME(WIDE) + v * NAME(LANES)), top[v]);
    }
  }
  for (int v = 0; v < vectors; v++) {
    T *at = s->top + v * NAME(LANES);
    T was[NAME(LANES)], now[NAME(LANES)];
    memcpy(was, at, sizeof was);
    STORE(at, top[v]);
    for (int l = 0; l < NAME(LANES); l++) {
      now[l] = at[l] == -(T)INFINITY ? 0 : at[l]; /* a lane without keys: e^-infinity is 0 */
    }
    top[v] = LOAD(now);
    STORE(s->back + v * NAME(LANES), NAME(exponential)(LOAD(was) - top[v]));
  }
  T *scores = s->scores;
  for (int64_t i = 0; i < count; i++) {
    for (int v = 0; v < vectors; v++) {
      T *at = scores + i * NAME(WIDE) + v * NAME(LANES);
      V e = NAME(share)(LOAD(at) - top[v], shares);
      sum[v] += e;
      STORE(at, e);
    }
  }
  for (int v = 0; v < vectors; v++) {
    T *at = s->sum + v * NAME(LANES);
    STORE(at, FUSED(LOAD(at), LOAD(s->back + v * NAME(LANES)), sum[v]));
  }
}

/* -- results ---------------------------------------------------------------------------------------------------- */

/* y = v^T scores, of one block. */
static void NAME(weigh)(const NAME(state) * s, const T *v, int64_t step, int64_t feature, int64_t count, T *y) {
  const NAME(rows_of_a) features = {.data = v, .row = feature, .step = step};
  NAME(strips_below)
  (s->panel->v_head, s->width, 0, count, features, (NAME(panel_of_b)){s->scores, NAME(WIDE), false},
   (NAME(ahead)){.from = s->scores}, y, NAME(WIDE), false, count, NULL);
}

/* The same without the values whose share is 0: they may be infinite or NaN. */
static void NAME(weigh_some)(const NAME(state) * s, const T *v, int64_t step, int64_t feature, int64_t count, T *y) {
  for (int64_t row = 0; row < s->panel->v_head; row++, y += NAME(WIDE)) {
    for (int64_t l = 0; l < s->width; l++) {
      y[l] = 0;
    }
    for (int64_t i = 0; i < count; i++) {
      const T *share = s->scores + i * NAME(WIDE);
      T value = v[i * step + row * feature];
      for (int64_t l = 0; l < s->width; l++) {
        y[l] += share[l] != 0 ? share[l] * value : 0;
      }
    }
  }
}

/* Adds the results of `count` keys of a block, from key `from` on, to the earlier ones, whose largest scores are
 * corrected. v: their values; NULL: in pairs. A sum for each block keeps the error small where there are many keys. */
static void NAME(add_values)(const NAME(state) * s, const T *v, int64_t step, int64_t feature, int64_t from,
                             int64_t count) {
  T *y = s->any ? s->part : s->y;
  if (s->careful) {
    NAME(weigh_some)(s, v, step, feature, count, y);
  } else if (s->pairs) {
    const int64_t pairs = (count + 1) / 2;
    const uint32_t *v_pairs = s->v_pairs + from / 2 * s->panel->v_head;
    pair_product(s->panel->v_head, s->width, pairs, (const uint16_t *)v_pairs, 2, 2 * s->panel->v_head, s->shares,
                 (float *)y);
  } else {
    NAME(weigh)(s, v, step, feature, count, y);
  }
  for (int64_t row = 0; s->any && row < s->panel->v_head * NAME(WIDE); row += NAME(WIDE)) {
    for (int64_t l = 0; l < s->width; l += NAME(LANES)) {
      STORE(s->y + row + l, FUSED(LOAD(s->y + row + l), LOAD(s->back + l), LOAD(y + row + l)));
    }
  }
}

/* True if all results are finite. */
static bool NAME(is_finite)(const NAME(state) * s) {
  V probe[2] = {REPEAT(0), REPEAT(0)};
  for (int64_t i = 0; i < s->panel->v_head; i++) {
    for (int v = 0; v < s->width / NAME(LANES); v++) {
      probe[v] += LOAD(s->y + i * NAME(WIDE) + v * NAME(LANES)) * REPEAT(0);
    }
  }
  return SUM(probe[0] + probe[1]) == 0;
}

static void NAME(store)(nd4c_attend_storage storage, void *y, int64_t at, T value) {
  if (storage == ND4C_ATTEND_PLAIN) {
    ((T *)y)[at] = value;
  } else {
    ((uint16_t *)y)[at] = storage == ND4C_ATTEND_BFLOAT16 ? nd4c_bfloat16_from_float((float)value)
                                                          : nd4c_float16_from_float((float)value);
  }
}

/* Results l to l + 3, whose features lie side by side. */
static void NAME(store_square)(const NAME(state) * s, int64_t l, int64_t step) {
  T *y = s->lane[l].y;
  int64_t i = 0;
  for (; i + 4 <= s->panel->v_head; i += 4) {
    nd4c_transpose_4((const void *)(s->y + i * NAME(WIDE) + l), NAME(WIDE), (void *)(y + i), step);
  }
  for (; i < s->panel->v_head; i++) {
    for (int64_t lane = 0; lane < 4; lane++) {
      y[lane * step + i] = s->y[i * NAME(WIDE) + l + lane];
    }
  }
}

/* Results l to l + 3 as halves, whose features lie side by side: transposed in the buffer of a block's results, then
 * rounded. */
static void NAME(store_halves)(const NAME(state) * s, int64_t l) {
  const nd4c_attend_panel *p = s->panel;
  float *rows = (float *)(void *)s->part;
  for (int64_t i = 0; i < p->v_head; i += 4) {
    nd4c_transpose_4((const void *)(s->y + i * NAME(WIDE) + l), NAME(WIDE), (void *)(rows + i), p->v_head);
  }
  for (int64_t lane = 0; lane < 4; lane++) {
    if (p->storage == ND4C_ATTEND_BFLOAT16) {
      nd4c_narrow_bfloat16(p->v_head, rows + lane * p->v_head, s->lane[l + lane].y);
    } else {
      nd4c_narrow_float16(p->v_head, rows + lane * p->v_head, s->lane[l + lane].y);
    }
  }
}

static void NAME(store_results)(const NAME(state) * s) {
  const nd4c_attend_panel *p = s->panel;
  const bool halves = sizeof(T) == sizeof(float) && p->storage != ND4C_ATTEND_PLAIN && p->y_feature == 1;
  int64_t l = 0, step;
  while (l < s->lanes) {
    const nd4c_attend_lane *lane = &s->lane[l];
    if (halves && p->v_head % 4 == 0 && l + 4 <= s->lanes) {
      NAME(store_halves)(s, l);
      l += 4;
      continue;
    }
    const void *rows[] = {lane[0].y, lane[1].y, lane[2].y, lane[3].y};
    if (NAME(are_square)(s, l, p->y_feature, rows, &step)) {
      NAME(store_square)(s, l, step);
      l += 4;
      continue;
    }
    for (int64_t i = 0; i < p->v_head; i++) {
      NAME(store)(p->storage, lane->y, i * p->y_feature, s->y[i * NAME(WIDE) + l]);
    }
    l++;
  }
}

/* Divides by the sums. A lane without keys gives 0. */
static void NAME(finish)(const NAME(state) * s) {
  T factor[NAME(WIDE)];
  for (int64_t l = 0; l < s->width; l++) {
    factor[l] = s->sum[l] != 0 ? 1 / s->sum[l] : 0;
  }
  for (int64_t i = 0; i < s->panel->v_head; i++) {
    for (int64_t l = 0; l < s->width; l += NAME(LANES)) {
      T *at = s->y + i * NAME(WIDE) + l;
      V y = s->any ? LOAD(at) : (V){0};
      STORE(at, y * LOAD(factor + l));
    }
  }
  NAME(store_results)(s);
}

#include "kernels/cpu/attention/blocks.h"
