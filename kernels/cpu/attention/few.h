/* Attention of a few queries, as a step of a decoder has them: a part of loops.h, which includes this. A query a lane
 * would leave most lanes empty. So a score is a product along the features of a key, and results are rows of values
 * times shares; the softmax runs along the keys. */

/* Numbers of a row of scores: a block of keys in whole vectors. */
enum { NAME(FEW_SCORES) = (KEYS + NAME(LANES) - 1) / NAME(LANES) * NAME(LANES) };

typedef struct NAME(few) {
  NAME(state) s;          /* for its operands */
  T *q, *scores, *y;      /* a row for each query */
  T top[ND4C_ATTEND_FEW]; /* as those of a state */
  T sum[ND4C_ATTEND_FEW];
  T back[ND4C_ATTEND_FEW];
  bool any;
} NAME(few);

/* The sums of four vectors. */
ND4C_INLINED void NAME(sum_four)(const V v[4], T *to) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  if (sizeof(T) == 4) {
    const __m256 one = _mm256_hadd_ps((__m256)v[0], (__m256)v[1]), other = _mm256_hadd_ps((__m256)v[2], (__m256)v[3]);
    const __m256 halves = _mm256_hadd_ps(one, other);
    _mm_storeu_ps((float *)(void *)to, _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1)));
    return;
  }
#endif
  for (int r = 0; r < 4; r++) {
    to[r] = SUM(v[r]);
  }
}

/* -- scores ----------------------------------------------------------------------------------------------------- */

/* Scores of `lanes` queries with `keys` keys; both are constants where this is called. */
ND4C_INLINED void NAME(few_products)(int lanes, int keys, const NAME(few) * f, int64_t lane, const T *k, int64_t step,
                                     T *to) {
  const int64_t head = f->s.panel->head;
  const T *q = f->q + lane * head;
  V sum[2][4];
  int64_t i = 0;
#pragma GCC unroll 2
  for (int l = 0; l < lanes; l++) {
#pragma GCC unroll 4
    for (int r = 0; r < 4; r++) {
      sum[l][r] = REPEAT(0);
    }
  }
  for (; i + NAME(LANES) <= head; i += NAME(LANES)) {
#pragma GCC unroll 4
    for (int r = 0; r < keys; r++) {
      const V key = LOAD(k + r * step + i);
#pragma GCC unroll 2
      for (int l = 0; l < lanes; l++) {
        sum[l][r] = FUSED(LOAD(q + l * head + i), key, sum[l][r]);
      }
    }
  }
  if (i < head) {
    for (int r = 0; r < keys; r++) {
      const V key = PART_LOAD(k + r * step + i, head - i);
      for (int l = 0; l < lanes; l++) {
        sum[l][r] = FUSED(PART_LOAD(q + l * head + i, head - i), key, sum[l][r]);
      }
    }
  }
#pragma GCC unroll 2
  for (int l = 0; l < lanes; l++) {
    T sums[4];
    NAME(sum_four)(sum[l], sums);
    memcpy(to + l * NAME(FEW_SCORES), sums, (size_t)keys * sizeof(T));
  }
}

static void NAME(few_scores)(const NAME(few) * f, const NAME(block) * b) {
  for (int64_t lane = 0, lanes; lane < f->s.panel->lanes; lane += lanes) {
    T *to = f->scores + lane * NAME(FEW_SCORES);
    const T *k = b->k;
    int64_t i = 0;
    lanes = f->s.panel->lanes - lane >= 2 ? 2 : 1;
    for (; i + 4 <= b->count; i += 4, k += 4 * b->k_step) {
      if (lanes == 2) {
        NAME(few_products)(2, 4, f, lane, k, b->k_step, to + i);
      } else {
        NAME(few_products)(1, 4, f, lane, k, b->k_step, to + i);
      }
    }
    for (; i < b->count; i++, k += b->k_step) {
      if (lanes == 2) {
        NAME(few_products)(2, 1, f, lane, k, b->k_step, to + i);
      } else {
        NAME(few_products)(1, 1, f, lane, k, b->k_step, to + i);
      }
    }
  }
}

/* Products become scores of one query; keys that it does not take, and the numbers behind the last one, -infinity. */
static void NAME(few_finish_scores)(const NAME(few) * f, const NAME(block) * b, int64_t l) {
  const nd4c_attend_panel *p = f->s.panel;
  const nd4c_attend_lane *lane = &p->lane[l];
  T *score = f->scores + l * NAME(FEW_SCORES);
  const T cap = (T)p->softcap;
  for (int64_t i = 0; i < b->count && f->s.factor != 1; i++) {
    score[i] *= f->s.factor;
  }
  for (int64_t i = 0; i < b->count && cap > 0; i++) {
    score[i] = cap * NAME(nd4c_tanh)(score[i] / cap);
  }
  for (int64_t i = 0; i < b->count && p->mask != ND4C_ATTEND_UNMASKED; i++) {
    score[i] = NAME(biased)(score[i], NAME(bias_at)(p, lane->mask, (b->first + i) * p->mask_step));
  }
  for (int64_t i = 0; i < b->count && i < lane->first - b->first; i++) {
    score[i] = -(T)INFINITY;
  }
  const int64_t last = lane->last - b->first < b->count ? lane->last - b->first : b->count;
  for (int64_t i = last > 0 ? last : 0; i < NAME(FEW_SCORES); i++) {
    score[i] = -(T)INFINITY;
  }
}

/* -- softmax ---------------------------------------------------------------------------------------------------- */

static void NAME(few_soften)(NAME(few) * f, int64_t l, int64_t count) {
  T *score = f->scores + l * NAME(FEW_SCORES);
  V tops = REPEAT(-(T)INFINITY), sum = REPEAT(0);
  for (int64_t i = 0; i < count; i += NAME(LANES)) {
    tops = NAME(larger)(LOAD(score + i), tops);
  }
  T all[NAME(LANES)], top = f->top[l];
  const T was = top;
  STORE(all, tops);
  for (int i = 0; i < NAME(LANES); i++) {
    top = all[i] > top ? all[i] : top;
  }
  f->top[l] = top;
  top = top == -(T)INFINITY ? 0 : top; /* a query without keys: e^-infinity is 0 */
  STORE(all, NAME(exponential)(REPEAT(was - top)));
  f->back[l] = all[0];
  for (int64_t i = 0; i < count; i += NAME(LANES)) {
    const V e = NAME(share)(LOAD(score + i) - REPEAT(top), NAME(QUICK));
    sum += e;
    STORE(score + i, e);
  }
  f->sum[l] = f->sum[l] * f->back[l] + SUM(sum);
}

/* -- results ---------------------------------------------------------------------------------------------------- */

/* Columns [column, column + vectors) of the results of `lanes` queries, `last` elements in the last vector. All but
 * column and last are constants where this is called. */
ND4C_INLINED void NAME(few_columns)(int lanes, int vectors, bool whole, int64_t last, const NAME(few) * f, int64_t lane,
                                    const NAME(block) * b, int64_t column) {
  const T *share = f->scores + lane * NAME(FEW_SCORES), *v = b->v + column;
  V sum[2][8];
#pragma GCC unroll 2
  for (int l = 0; l < lanes; l++) {
#pragma GCC unroll 8
    for (int c = 0; c < vectors; c++) {
      sum[l][c] = REPEAT(0);
    }
  }
  for (int64_t i = 0; i < b->count; i++, v += b->v_step) {
#pragma GCC unroll 8
    for (int c = 0; c < vectors; c++) {
      const V value = whole ? LOAD(v + c * NAME(LANES)) : PART_LOAD(v, last);
#pragma GCC unroll 2
      for (int l = 0; l < lanes; l++) {
        sum[l][c] = FUSED(REPEAT(share[l * NAME(FEW_SCORES) + i]), value, sum[l][c]);
      }
    }
  }
#pragma GCC unroll 2
  for (int l = 0; l < lanes; l++) {
    T *y = f->y + (lane + l) * f->s.panel->v_head + column;
#pragma GCC unroll 8
    for (int c = 0; c < vectors; c++, y += NAME(LANES)) {
      V before = REPEAT(0);
      if (f->any) {
        before = whole ? LOAD(y) : PART_LOAD(y, last);
      }
      const V result = FUSED(before, REPEAT(f->back[lane + l]), sum[l][c]);
      if (whole) {
        STORE(y, result);
      } else {
        PART_STORE(y, result, last);
      }
    }
  }
}

static void NAME(few_values)(const NAME(few) * f, const NAME(block) * b) {
  enum { HALF = 4 * NAME(LANES), WHOLE = 8 * NAME(LANES) }; /* eight sums hide the latency of one */
  const int64_t n = f->s.panel->v_head;
  for (int64_t lane = 0, lanes; lane < f->s.panel->lanes; lane += lanes) {
    int64_t column = 0;
    lanes = f->s.panel->lanes - lane >= 2 ? 2 : 1;
    for (; lanes == 1 && column + WHOLE <= n; column += WHOLE) {
      NAME(few_columns)(1, 8, true, 0, f, lane, b, column);
    }
    for (; column + HALF <= n; column += HALF) {
      if (lanes == 2) {
        NAME(few_columns)(2, 4, true, 0, f, lane, b, column);
      } else {
        NAME(few_columns)(1, 4, true, 0, f, lane, b, column);
      }
    }
    for (; column + NAME(LANES) <= n; column += NAME(LANES)) {
      if (lanes == 2) {
        NAME(few_columns)(2, 1, true, 0, f, lane, b, column);
      } else {
        NAME(few_columns)(1, 1, true, 0, f, lane, b, column);
      }
    }
    for (int64_t l = 0; l < lanes && column < n; l++) {
      NAME(few_columns)(1, 1, false, n - column, f, lane + l, b, column);
    }
  }
}

/* -- panels ----------------------------------------------------------------------------------------------------- */

static bool NAME(is_few)(const nd4c_attend_panel *p) {
  bool few = p->few && !NAME(can_pair)(p);
  for (int64_t r = 0; r < p->runs; r++) {
    few = few && p->run[r].k_feature == 1 && p->run[r].v_feature == 1;
  }
  return few;
}

static void NAME(few_open)(NAME(few) * f, const nd4c_attend_panel *p, T *buffer) {
  const bool exact = NAME(scales_exactly)(p->scale);
  f->s = NAME(start)(p, 1, buffer);
  f->s.factor = exact ? 1 : (T)p->scale;
  f->q = buffer;
  f->y = buffer + p->head * NAME(WIDE);
  f->scores = f->s.scores;
  f->any = false;
  for (int64_t l = 0; l < p->lanes; l++) {
    for (int64_t i = 0; i < p->head; i++) {
      f->q[l * p->head + i] = NAME(element)(p->storage, p->lane[l].q, i * p->q_feature) * (exact ? (T)p->scale : 1);
    }
    f->top[l] = -(T)INFINITY;
    f->sum[l] = 0;
  }
}

/* Whether any query takes a key of the block. */
static bool NAME(few_take)(const nd4c_attend_panel *p, int64_t first, int64_t count) {
  bool takes = false;
  for (int64_t l = 0; l < p->lanes; l++) {
    takes = takes || (p->lane[l].first < first + count && p->lane[l].last > first);
  }
  return takes;
}

static void NAME(few_block)(NAME(few) * f, const nd4c_attend_run *run, int64_t at, int64_t count) {
  const nd4c_attend_panel *p = f->s.panel;
  if (!NAME(few_take)(p, run->first + at, count)) {
    return;
  }
  const NAME(block) b = NAME(load_block)(&f->s, 1, run, at, count);
  NAME(few_scores)(f, &b);
  for (int64_t l = 0; l < p->lanes; l++) {
    NAME(few_finish_scores)(f, &b, l);
    NAME(few_soften)(f, l, count);
  }
  NAME(few_values)(f, &b);
  f->any = true;
}

/* Divides by the sums and stores; false if a result is not finite. A query without keys gives 0. */
static bool NAME(few_finish)(const NAME(few) * f) {
  const nd4c_attend_panel *p = f->s.panel;
  T probe = 0;
  for (int64_t i = 0; i < p->lanes * p->v_head && f->any; i++) {
    probe += f->y[i] * 0;
  }
  for (int64_t l = 0; l < p->lanes && probe == 0; l++) {
    const T factor = f->sum[l] != 0 ? 1 / f->sum[l] : 0;
    for (int64_t i = 0; i < p->v_head; i++) {
      NAME(store)(p->storage, p->lane[l].y, i * p->y_feature, f->any ? f->y[l * p->v_head + i] * factor : 0);
    }
  }
  return probe == 0;
}

/* False: a result is not finite. The caller has to compute all of them in the other way, which knows the values whose
 * share is 0. */
static bool NAME(attend_few)(const nd4c_attend_panel *p, T *buffer) {
  NAME(few) f;
  NAME(few_open)(&f, p, buffer);
  for (int64_t r = 0; r < p->runs; r++) {
    for (int64_t at = 0; at < p->run[r].count; at += KEYS) {
      NAME(few_block)(&f, &p->run[r], at, p->run[r].count - at < KEYS ? p->run[r].count - at : KEYS);
    }
  }
  return NAME(few_finish)(&f);
}
