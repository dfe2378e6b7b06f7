/* Blocks of keys, and panels of queries, of attention's loops: the end of loops.h, which includes this. */

/* -- blocks ----------------------------------------------------------------------------------------------------- */

/* Pairs of values. A value without a second one is paired with itself; pair_shares gives it the share 0. */
static void NAME(pair_values)(const NAME(state) * s, const uint16_t *v, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; i += 2) {
    pair_up(s->panel->v_head, v + i * step, v + (i + 1 < count ? i + 1 : i) * step,
            s->v_pairs + i / 2 * s->panel->v_head);
  }
}

static void NAME(pair_shares)(const NAME(state) * s, int64_t count) {
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

/* Copies rows of `n` numbers so that no gaps are between them. */
static const T *NAME(close_gaps)(int64_t count, int64_t n, const T *from, int64_t *step, T *to) {
  for (int64_t i = 0; i < count; i++) {
    memcpy(to + i * n, from + i * *step, (size_t)n * sizeof(T));
  }
  *step = n;
  return to;
}

/* Keys [at, at + count) of a run. Several parts read them from a copy if rows that lie apart would compete for the same
 * places in the L1 cache. */
static NAME(block)
    NAME(load_block)(const NAME(state) * s, int64_t parts, const nd4c_attend_run *run, int64_t at, int64_t count) {
  const nd4c_attend_panel *p = s->panel;
  NAME(block)
  b = {.first = run->first + at,
       .count = count,
       .k_step = run->k_step,
       .k_feature = run->k_feature,
       .v_step = run->v_step,
       .v_feature = run->v_feature};
  const int64_t k_at = at * run->k_step, v_at = at * run->v_step;
  if (p->storage == ND4C_ATTEND_PLAIN) {
    b.k = (const T *)run->k + k_at;
    b.v = (const T *)run->v + v_at;
    if (parts > 1 && b.k_feature == 1 && b.k_step != p->head) {
      b.k = NAME(close_gaps)(count, p->head, b.k, &b.k_step, s->k);
    }
    if (parts > 1 && b.v_feature == 1 && b.v_step != p->v_head) {
      b.v = NAME(close_gaps)(count, p->v_head, b.v, &b.v_step, s->v);
    }
    return b;
  }
  if (s->pairs) {
    b.k_halves = (const uint16_t *)run->k + k_at;
  } else {
    NAME(widen)(p->storage, count, p->head, (const uint16_t *)run->k + k_at, b.k_step, b.k_feature, s->k);
    b.k = s->k, b.k_step = p->head, b.k_feature = 1;
  }
  if (s->pairs && !s->careful) {
    NAME(pair_values)(s, (const uint16_t *)run->v + v_at, b.v_step, count);
  } else {
    NAME(widen)(p->storage, count, p->v_head, (const uint16_t *)run->v + v_at, b.v_step, b.v_feature, s->v);
    b.v = s->v, b.v_step = p->v_head, b.v_feature = 1;
  }
  return b;
}

/* A part takes keys [from, to) of a block. `from` is even. */
static void NAME(take_keys)(NAME(state) * s, const NAME(block) * b, int64_t from, int64_t to) {
  const nd4c_attend_panel *p = s->panel;
  const int64_t count = to - from;
  if (s->pairs) {
    pair_product(count, s->width, p->head / 2, b->k_halves + from * b->k_step, b->k_step, 2, s->q_pairs,
                 (float *)s->scores);
  } else {
    NAME(multiply_keys)(s, b->k + from * b->k_step, b->k_step, b->k_feature, count);
  }
  NAME(finish_scores)(s, b->first + from, count);
  if (s->pairs) {
    NAME(soften)(s, count, 2, sizeof(T) == sizeof(float) ? NAME(ROUNDED) : NAME(EXACT));
  } else if (s->careful) {
    NAME(soften)(s, count, (int)(s->width / NAME(LANES)), NAME(EXACT));
  } else if (s->width == NAME(LANES)) {
    NAME(soften)(s, count, 1, NAME(QUICK));
  } else {
    NAME(soften)(s, count, 2, NAME(QUICK));
  }
  if (s->pairs && !s->careful) {
    NAME(pair_shares)(s, count);
    NAME(add_values)(s, NULL, 0, 0, from, count);
  } else {
    NAME(add_values)(s, b->v + from * b->v_step, b->v_step, b->v_feature, from, count);
  }
  s->any = true;
}

/* The keys of a block that a part takes: [*from, *to), which may be empty. In whole tiles, unless there is a mask,
 * which may end with the last key that is taken. */
static void NAME(part_of_block)(const NAME(state) * s, int64_t first, int64_t count, int64_t *from, int64_t *to) {
  const int64_t unit = s->panel->mask == ND4C_ATTEND_UNMASKED ? TILE_ROWS : 1;
  *from = s->first > first ? (s->first - first) / TILE_ROWS * TILE_ROWS : 0;
  *to = s->last > first ? (s->last - first + unit - 1) / unit * unit : 0;
  *to = *to < count ? *to : count;
}

static void NAME(pass_block)(NAME(state) * s, int64_t parts, const nd4c_attend_run *run, int64_t at, int64_t count) {
  int64_t takers = 0, from, to;
  for (int64_t i = 0; i < parts; i++) {
    NAME(part_of_block)(&s[i], run->first + at, count, &from, &to);
    takers += from < to;
  }
  if (takers == 0) {
    return;
  }
  const NAME(block) b = NAME(load_block)(s, takers, run, at, count);
  for (int64_t i = 0; i < parts; i++) {
    NAME(part_of_block)(&s[i], b.first, count, &from, &to);
    if (from < to) {
      NAME(take_keys)(&s[i], &b, from, to);
    }
  }
}

/* All keys, for some parts. Blocks of a run have about the same length, which does not depend on the parts. */
static void NAME(all_blocks)(const nd4c_attend_panel *p, NAME(state) * s, int64_t parts) {
  for (int64_t i = 0; i < parts; i++) {
    for (int64_t l = 0; l < NAME(WIDE); l++) {
      s[i].top[l] = -(T)INFINITY;
      s[i].sum[l] = 0;
    }
    s[i].any = false;
  }
  for (int64_t r = 0; r < p->runs; r++) {
    const nd4c_attend_run *run = &p->run[r];
    const int64_t blocks = (run->count + KEYS - 1) / KEYS;
    const int64_t even = blocks > 0 ? (run->count + blocks - 1) / blocks : 0;
    const int64_t most = (even + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
    for (int64_t at = 0; at < run->count; at += most) {
      NAME(pass_block)(s, parts, run, at, run->count - at < most ? run->count - at : most);
    }
  }
}

/* -- panels ----------------------------------------------------------------------------------------------------- */

/* Elements of a buffer: of each part, and of all parts together. */
static int64_t NAME(part_numbers)(int64_t head, int64_t v_head, nd4c_attend_storage storage) {
  return (head + v_head + (storage == ND4C_ATTEND_BFLOAT16 ? (head + 1) / 2 : 0)) * NAME(WIDE);
}

static int64_t NAME(buffer_bytes)(int64_t lanes, int64_t head, int64_t v_head, nd4c_attend_storage storage) {
  const int64_t parts = (lanes + NAME(WIDE) - 1) / NAME(WIDE), wide = (KEYS + v_head) * NAME(WIDE);
  const int64_t block = KEYS * (head + v_head);
  const int64_t pairs = storage == ND4C_ATTEND_BFLOAT16 ? KEYS / 2 * (NAME(WIDE) + v_head) : 0;
  return (parts * NAME(part_numbers)(head, v_head, storage) + wide + block + pairs) * (int64_t)sizeof(T);
}

/* What all parts share. */
static NAME(state) NAME(start)(const nd4c_attend_panel *panel, int64_t parts, T *buffer) {
  NAME(state) s = {.panel = panel, .pairs = NAME(can_pair)(panel)};
  s.scores = buffer + parts * NAME(part_numbers)(panel->head, panel->v_head, panel->storage);
  s.part = s.scores + KEYS * NAME(WIDE);
  s.k = s.part + panel->v_head * NAME(WIDE);
  s.v = s.k + KEYS * panel->head;
  s.shares = (uint32_t *)(void *)(s.v + KEYS * panel->v_head);
  s.v_pairs = s.shares + KEYS / 2 * NAME(WIDE);
  return s;
}

/* A part: `lanes` lanes from `lane` on, whose own numbers lie at `own`. */
static void NAME(open_part)(NAME(state) * s, const nd4c_attend_lane *lane, int64_t lanes, T *own) {
  const nd4c_attend_panel *p = s->panel;
  s->lane = lane;
  s->lanes = lanes < NAME(WIDE) ? lanes : NAME(WIDE);
  s->width = s->lanes > NAME(LANES) ? NAME(WIDE) : NAME(LANES);
  s->first = lane[0].first, s->last = lane[0].last;
  for (int64_t l = 1; l < s->lanes; l++) {
    s->first = lane[l].first < s->first ? lane[l].first : s->first;
    s->last = lane[l].last > s->last ? lane[l].last : s->last;
  }
  s->q = own;
  s->y = s->q + p->head * NAME(WIDE);
  s->q_pairs = (uint32_t *)(void *)(s->y + p->v_head * NAME(WIDE));
  s->factor = (T)p->scale;
  if (!NAME(load_pairs)(s)) {
    bool exact = NAME(scales_exactly)(p->scale);
    s->factor = exact ? 1 : (T)p->scale;
    NAME(load_queries)(s, exact ? (T)p->scale : 1);
    if (s->pairs) {
      pair_rows(p->head / 2, s->width, (const float *)s->q, s->q_pairs);
    }
  }
}

#include "kernels/cpu/attention/few.h"

static void NAME(attend)(const nd4c_attend_panel *panel, void *buffer) {
  NAME(state) s[NAME(PARTS)];
  if (NAME(is_few)(panel) && NAME(attend_few)(panel, buffer)) {
    return;
  }
  const int64_t parts = (panel->lanes + NAME(WIDE) - 1) / NAME(WIDE);
  const int64_t own = NAME(part_numbers)(panel->head, panel->v_head, panel->storage);
  const NAME(state) start = NAME(start)(panel, parts, buffer);
  for (int64_t i = 0; i < parts; i++) {
    s[i] = start;
    NAME(open_part)(&s[i], panel->lane + i * NAME(WIDE), panel->lanes - i * NAME(WIDE), (T *)buffer + i * own);
  }
  NAME(all_blocks)(panel, s, parts);
  for (int64_t i = 0; i < parts; i++) {
    if (s[i].any && !NAME(is_finite)(&s[i])) {
      s[i].careful = true;
      NAME(all_blocks)(panel, &s[i], 1);
    }
    NAME(finish)(&s[i]);
  }
}

static const nd4c_attend_loops NAME(loops) = {
    .lanes = NAME(WIDE), .buffer_bytes = NAME(buffer_bytes), .attend = NAME(attend)};
