/* Attention of one float: a template of each_dtype.h with the names of gemm_vector.h, which attention.c includes.
 *
 * A panel has two vectors of queries, one query a lane. Scores of a block of keys are the product k q^T, and results
 * the product v^T scores: k and v are read where they lie, only q is packed, and the softmax of every query runs down a
 * lane. A running maximum and a running sum make later blocks correct earlier ones. */

enum { NAME(LANES) = VECTOR_BYTES / sizeof(T), NAME(WIDE) = 2 * NAME(LANES) };
_Static_assert((int)NAME(WIDE) <= (int)ND4C_ATTEND_LANES, "room for a panel's lanes");

#include "kernels/cpu/contraction/gemm_strip.h"

/* The running state of a panel: `width` lanes are computed, WIDE apart. */
typedef struct NAME(state) {
  const nd4c_attend_panel *panel;
  int64_t width;
  T factor;           /* for scores, unless q holds the scale already: then 1 */
  T *q, *scores;      /* [head] and [KEYS] of WIDE lanes */
  T *y, *part;        /* [v_head] of them: of all blocks so far, and of one */
  T *k, *v;           /* a block's keys and values, if they are stored as halves */
  bool pairs;         /* products of pairs of bfloat16: */
  uint32_t *q_pairs;  /* [head / 2] of WIDE lanes */
  uint32_t *shares;   /* [KEYS / 2] of them: what weighs two values */
  uint32_t *v_pairs;  /* [KEYS / 2, v_head]: values of two keys side by side */
  bool any, careful;  /* y holds earlier blocks; values whose share is 0 are skipped */
  T top[NAME(WIDE)];  /* the largest score so far */
  T sum[NAME(WIDE)];  /* of e^(score - top) */
  T back[NAME(WIDE)]; /* what corrects earlier sums: e^(top before - top) */
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
static bool NAME(are_square)(const nd4c_attend_panel *p, int64_t l, int64_t feature, const void *const *at,
                             int64_t *step) {
  if (sizeof(T) != sizeof(uint32_t) || p->storage != ND4C_ATTEND_PLAIN || feature != 1 || l + 4 > p->lanes) {
    return false;
  }
  const T *rows[4] = {at[0], at[1], at[2], at[3]};
  *step = rows[1] - rows[0];
  return rows[2] - rows[1] == *step && rows[3] - rows[2] == *step;
}

/* Queries l to l + 3, whose features lie side by side. */
static void NAME(load_square)(NAME(state) * s, int64_t l, int64_t step) {
  const T *q = s->panel->lane[l].q;
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
  if (!s->pairs || p->q_feature != 1 || words % 4 != 0 || p->lanes % 4 != 0) {
    return false;
  }
  for (int64_t l = 0; l < p->lanes; l += 4) {
    const uint16_t *rows[4] = {p->lane[l].q, p->lane[l + 1].q, p->lane[l + 2].q, p->lane[l + 3].q};
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
    for (int64_t l = p->lanes; l < s->width; l++) {
      s->q_pairs[i * NAME(WIDE) + l] = 0;
    }
  }
  return true;
}

static void NAME(load_queries)(NAME(state) * s, T factor) {
  const nd4c_attend_panel *p = s->panel;
  int64_t l = 0, step;
  while (l < p->lanes) {
    const nd4c_attend_lane *lane = &p->lane[l];
    const void *rows[] = {lane[0].q, lane[1].q, lane[2].q, lane[3].q};
    if (NAME(are_square)(p, l, p->q_feature, rows, &step)) {
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
    for (l = p->lanes; l < s->width; l++) {
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
    T bias = NAME(bias_at)(p, p->lane[0].mask, (first + i) * p->mask_step);
    T *row = s->scores + i * NAME(WIDE);
    for (int64_t l = 0; l < NAME(WIDE); l++) {
      row[l] = NAME(biased)(row[l], bias);
    }
  }
  for (int64_t l = 0; !p->mask_is_shared && l < p->lanes; l++) {
    T *column = s->scores + l;
    for (int64_t i = 0; i < count; i++) {
      column[i * NAME(WIDE)] =
          NAME(biased)(column[i * NAME(WIDE)], NAME(bias_at)(p, p->lane[l].mask, (first + i) * p->mask_step));
    }
  }
}

/* Leaves out the keys beyond each lane's own bounds. */
static void NAME(bound_scores)(const NAME(state) * s, int64_t first, int64_t count) {
  const nd4c_attend_panel *p = s->panel;
  for (int64_t l = 0; l < p->lanes; l++) {
    int64_t from = p->lane[l].first - first, to = p->lane[l].last - first;
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
  T e[NAME(LANES)];
  STORE(e, x);
  for (int l = 0; l < NAME(LANES); l++) {
    e[l] = NAME(nd4c_exp)(e[l]);
  }
  return LOAD(e);
#endif
}

/* e^x for shares, which are rounded to bfloat16 if there are pairs of them. */
ND4C_INLINED V NAME(share)(V x, bool pairs) {
#if defined(__AVX512F__)
  return pairs ? (V)pair_exponential((__m512)x) : NAME(exponential)(x);
#else
  (void)pairs;
  return NAME(exponential)(x);
#endif
}

/* Scores become e^(score - top) in the lanes of `vectors` vectors. That and `pairs` are constants where this is
 * called. */
ND4C_INLINED void NAME(soften)(NAME(state) * s, int64_t count, int vectors, bool pairs) {
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
  for (int64_t i = 0; i < count; i++) {
    for (int v = 0; v < vectors; v++) {
      T *at = s->scores + i * NAME(WIDE) + v * NAME(LANES);
      V e = NAME(share)(LOAD(at) - top[v], pairs);
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

/* Adds the block's results to the earlier ones, whose largest scores are corrected. A sum for each block keeps the
 * error small where there are many keys. */
static void NAME(add_values)(const NAME(state) * s, const T *v, int64_t step, int64_t feature, int64_t count) {
  T *y = s->any ? s->part : s->y;
  if (s->careful) {
    NAME(weigh_some)(s, v, step, feature, count, y);
  } else if (s->pairs) {
    const int64_t pairs = (count + 1) / 2;
    pair_product(s->panel->v_head, s->width, pairs, (const uint16_t *)s->v_pairs, 2, 2 * s->panel->v_head, s->shares,
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
  T *y = s->panel->lane[l].y;
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
      nd4c_narrow_bfloat16(p->v_head, rows + lane * p->v_head, p->lane[l + lane].y);
    } else {
      nd4c_narrow_float16(p->v_head, rows + lane * p->v_head, p->lane[l + lane].y);
    }
  }
}

static void NAME(store_results)(const NAME(state) * s) {
  const nd4c_attend_panel *p = s->panel;
  const bool halves = sizeof(T) == sizeof(float) && p->storage != ND4C_ATTEND_PLAIN && p->y_feature == 1;
  int64_t l = 0, step;
  while (l < p->lanes) {
    const nd4c_attend_lane *lane = &p->lane[l];
    if (halves && p->v_head % 4 == 0 && l + 4 <= p->lanes) {
      NAME(store_halves)(s, l);
      l += 4;
      continue;
    }
    const void *rows[] = {lane[0].y, lane[1].y, lane[2].y, lane[3].y};
    if (NAME(are_square)(p, l, p->y_feature, rows, &step)) {
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

/* -- blocks ----------------------------------------------------------------------------------------------------- */

/* Pairs of values and of their shares. A value without a second one is paired with itself, whose share is then 0. */
static void NAME(pair_values)(NAME(state) * s, const uint16_t *v, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; i += 2) {
    pair_up(s->panel->v_head, v + i * step, v + (i + 1 < count ? i + 1 : i) * step,
            s->v_pairs + i / 2 * s->panel->v_head);
  }
  for (int64_t l = 0; count % 2 != 0 && l < s->width; l++) {
    s->scores[count * NAME(WIDE) + l] = 0;
  }
  pair_rows((count + 1) / 2, s->width, (const float *)s->scores, s->shares);
}

/* Whether all products of the panel can be of pairs. */
static bool NAME(can_pair)(const nd4c_attend_panel *p) {
  bool can = sizeof(T) == sizeof(float) && p->pairs && p->storage == ND4C_ATTEND_BFLOAT16 && p->head % 2 == 0;
  for (int64_t r = 0; r < p->runs; r++) {
    can = can && p->run[r].k_feature == 1 && p->run[r].v_feature == 1;
  }
  return can;
}

/* Keys [at, at + count) of a run. */
static void NAME(block)(NAME(state) * s, const nd4c_attend_run *run, int64_t at, int64_t count) {
  const nd4c_attend_panel *p = s->panel;
  int64_t k_at = at * run->k_step, v_at = at * run->v_step;
  if (p->storage == ND4C_ATTEND_PLAIN) {
    NAME(multiply_keys)(s, (const T *)run->k + k_at, run->k_step, run->k_feature, count);
  } else if (s->pairs) {
    pair_product(count, s->width, p->head / 2, (const uint16_t *)run->k + k_at, run->k_step, 2, s->q_pairs,
                 (float *)s->scores);
  } else {
    NAME(widen)(p->storage, count, p->head, (const uint16_t *)run->k + k_at, run->k_step, run->k_feature, s->k);
    NAME(multiply_keys)(s, s->k, p->head, 1, count);
  }
  NAME(finish_scores)(s, run->first + at, count);
  if (s->pairs) {
    NAME(soften)(s, count, 2, sizeof(T) == sizeof(float));
  } else if (s->width == NAME(LANES)) {
    NAME(soften)(s, count, 1, false);
  } else {
    NAME(soften)(s, count, 2, false);
  }
  if (p->storage == ND4C_ATTEND_PLAIN) {
    NAME(add_values)(s, (const T *)run->v + v_at, run->v_step, run->v_feature, count);
  } else {
    if (s->pairs && !s->careful) {
      NAME(pair_values)(s, (const uint16_t *)run->v + v_at, run->v_step, count);
    } else {
      NAME(widen)(p->storage, count, p->v_head, (const uint16_t *)run->v + v_at, run->v_step, run->v_feature, s->v);
    }
    NAME(add_values)(s, s->v, p->v_head, 1, count);
  }
  s->any = true;
}

/* All keys that any lane takes. Blocks of a run have about the same length. */
static void NAME(all_blocks)(NAME(state) * s) {
  const nd4c_attend_panel *p = s->panel;
  int64_t first = p->lane[0].first, last = p->lane[0].last;
  for (int64_t l = 0; l < NAME(WIDE); l++) {
    s->top[l] = -(T)INFINITY;
    s->sum[l] = 0;
    if (l < p->lanes) {
      first = p->lane[l].first < first ? p->lane[l].first : first;
      last = p->lane[l].last > last ? p->lane[l].last : last;
    }
  }
  s->any = false;
  for (int64_t r = 0; r < p->runs; r++) {
    const nd4c_attend_run *run = &p->run[r];
    int64_t from = first > run->first ? first - run->first : 0;
    int64_t to = last - run->first < run->count ? last - run->first : run->count;
    int64_t blocks = to > from ? (to - from + KEYS - 1) / KEYS : 0;
    for (int64_t count; from < to; from += count, blocks--) {
      count = (to - from + blocks - 1) / blocks;
      count = (count + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
      count = count > KEYS ? KEYS : count;
      count = count > to - from ? to - from : count;
      NAME(block)(s, run, from, count);
    }
  }
}

static int64_t NAME(buffer_bytes)(int64_t head, int64_t v_head, nd4c_attend_storage storage) {
  int64_t wide = (head + 2 * v_head + KEYS) * NAME(WIDE);
  int64_t widened = storage == ND4C_ATTEND_PLAIN ? 0 : KEYS * (head + v_head);
  int64_t pairs = storage == ND4C_ATTEND_BFLOAT16 ? ((head + KEYS) * NAME(WIDE) + KEYS * v_head) / 2 : 0;
  return (wide + widened + pairs) * (int64_t)sizeof(T);
}

static void NAME(attend)(const nd4c_attend_panel *panel, void *buffer) {
  NAME(state) s = {.panel = panel, .width = panel->lanes > NAME(LANES) ? NAME(WIDE) : NAME(LANES), .q = buffer};
  s.scores = s.q + panel->head * NAME(WIDE);
  s.y = s.scores + KEYS * NAME(WIDE);
  s.part = s.y + panel->v_head * NAME(WIDE);
  s.k = s.part + panel->v_head * NAME(WIDE);
  s.v = s.k + KEYS * panel->head;
  s.pairs = NAME(can_pair)(panel);
  s.q_pairs = (uint32_t *)(void *)(s.v + KEYS * panel->v_head);
  s.shares = s.q_pairs + panel->head / 2 * NAME(WIDE);
  s.v_pairs = s.shares + KEYS / 2 * NAME(WIDE);
  s.factor = (T)panel->scale;
  if (!NAME(load_pairs)(&s)) {
    bool exact = NAME(scales_exactly)(panel->scale);
    s.factor = exact ? 1 : (T)panel->scale;
    NAME(load_queries)(&s, exact ? (T)panel->scale : 1);
    if (s.pairs) {
      pair_rows(panel->head / 2, s.width, (const float *)s.q, s.q_pairs);
    }
  }
  NAME(all_blocks)(&s);
  if (s.any && !NAME(is_finite)(&s)) {
    s.careful = true;
    NAME(all_blocks)(&s);
  }
  NAME(finish)(&s);
}

static const nd4c_attend_loops NAME(loops) = {
    .lanes = NAME(WIDE), .buffer_bytes = NAME(buffer_bytes), .attend = NAME(attend)};
