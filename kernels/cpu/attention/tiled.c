/* Implements tiled.h. Keys pass in blocks, which are packed into tiles and kept as far as the buffer reaches; a block
 * passes the groups of a panel's queries. Scores of a group stay in the L1 cache; a query's largest score and sum run
 * along, as in loops.h. Compiled once per level; only that of AVX-512 has code. */
#include "kernels/cpu/attention/tiled.h"

#include <math.h>
#include <stddef.h>

#include "kernels/cpu/support/level.h"

extern const nd4c_tiled_table ND4C_LEVEL_NAME(nd4c_tiled_table);

#if defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__x86_64__) && \
    (defined(__clang__) || __GNUC__ >= 11)

#include "kernels/cpu/attention/tiles.h"
#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/shape/squares.h"
#include "kernels/cpu/support/half.h"

/* KEYS: of a block. PACKED_BYTES: of the blocks that a thread keeps. SLACK: see raise_top. */
enum { KEYS = 128, GROUP = ND4C_TILED_GROUP, PACKED_BYTES = 4 << 20, SLACK = 8 };

/* A thread's buffer, and a panel. `head` and `v_head` are filled up to whole tiles. */
typedef struct work {
  const nd4c_tiled_panel *panel;
  const nd4c_attend_panel *operands;
  int64_t head, v_head, slots;
  bool plain;       /* products become exponents by a factor alone: no mask, no cap */
  float factor;     /* from what is in `scores` to exponents of 2 */
  float *top;       /* [queries]: what exponents of 2 are relative to, a whole number; -infinity before the first key */
  float *sums;      /* [queries, 16]: of shares, in parts */
  float *y;         /* [queries, v_head] */
  float *scores;    /* [GROUP, KEYS] */
  uint16_t *shares; /* the same */
  uint16_t *q;      /* [queries, head] */
  uint16_t *rows;   /* [TILE_NUMBERS, the larger head]: keys or values that are being packed */
  uint16_t *blocks; /* [slots] of KEYS keys, then their values */
  int64_t *owners;  /* [slots]: the numbers of their blocks */
} work;

static int64_t filled_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

static int64_t block_numbers(const work *w) {
  return KEYS * (w->head + w->v_head);
}

/* Divides a buffer; returns its bytes. */
static int64_t divide(work *w, int64_t head, int64_t v_head, int64_t keys, void *buffer) {
  w->head = filled_up(head, TILE_NUMBERS);
  w->v_head = filled_up(v_head, TILE_SIDE);
  const int64_t blocks = (keys + KEYS - 1) / KEYS,
                most = PACKED_BYTES / (block_numbers(w) * (int64_t)sizeof *w->blocks);
  w->slots = most < 1 ? 1 : blocks < most ? blocks : most;
  const int64_t larger = w->head > w->v_head ? w->head : w->v_head;
  int64_t bytes = 0;
#define PART(name, count)                                             \
  w->name = buffer == NULL ? NULL : (void *)((char *)buffer + bytes); \
  bytes += filled_up((int64_t)sizeof *w->name * (count), 64)
  PART(top, ND4C_TILED_QUERIES);
  PART(sums, ND4C_TILED_QUERIES * TILE_SIDE);
  PART(y, ND4C_TILED_QUERIES * w->v_head);
  PART(scores, GROUP * KEYS);
  PART(shares, GROUP * KEYS);
  PART(q, ND4C_TILED_QUERIES * w->head);
  PART(rows, TILE_NUMBERS * larger);
  PART(blocks, w->slots * block_numbers(w));
  PART(owners, w->slots);
#undef PART
  return bytes;
}

static int64_t buffer_bytes(int64_t head, int64_t v_head, int64_t keys) {
  work w;
  return divide(&w, head, v_head, keys, NULL);
}

static void start(int64_t head, int64_t v_head, int64_t keys, void *buffer) {
  work w;
  (void)divide(&w, head, v_head, keys, buffer);
  for (int64_t i = 0; i < w.slots; i++) {
    w.owners[i] = -1;
  }
  memset(w.shares, 0, GROUP * KEYS * sizeof *w.shares); /* rows past the last query are multiplied, too */
}

/* -- packing ------------------------------------------------------------------------------------------------------ */

/* `n` numbers, `step` apart, and zeros up to `whole`. */
static void copy_row(int64_t n, int64_t whole, const uint16_t *from, int64_t step, uint16_t *to) {
  if (step == 1) {
    memcpy(to, from, (size_t)n * sizeof *to);
  } else {
    for (int64_t i = 0; i < n; i++) {
      to[i] = from[i * step];
    }
  }
  memset(to + n, 0, (size_t)(whole - n) * sizeof *to);
}

/* The run that has a key. */
static const nd4c_attend_run *run_of(const work *w, int64_t key) {
  const nd4c_attend_panel *p = w->operands;
  return p->runs > 1 && key >= p->run[1].first ? &p->run[1] : &p->run[0];
}

/* Rows of TILE_NUMBERS keys from `first` on, zeros past the last one, `whole` numbers each. */
static void gather(const work *w, int64_t first, bool values, int64_t whole) {
  const int64_t n = values ? w->operands->v_head : w->operands->head;
  for (int64_t i = 0; i < TILE_NUMBERS; i++) {
    uint16_t *to = w->rows + i * whole;
    if (first + i >= w->panel->keys) {
      memset(to, 0, (size_t)whole * sizeof *to);
      continue;
    }
    const nd4c_attend_run *run = run_of(w, first + i);
    const uint16_t *from = values ? run->v : run->k;
    from += (first + i - run->first) * (values ? run->v_step : run->k_step);
    copy_row(n, whole, from, values ? run->v_feature : run->k_feature, to);
  }
}

/* Keys become columns: tiles of 16 keys and 32 features, all features of 16 keys after the other. */
static void pack_keys(const work *w, uint16_t *to) {
  const int64_t words = w->head / 2;
  for (int64_t key = 0; key < TILE_NUMBERS; key += TILE_SIDE) {
    for (int64_t word = 0; word < words; word += TILE_SIDE, to += TILE_ALL) {
      for (int64_t i = 0; i < TILE_SIDE * TILE_SIDE / 16; i++) { /* squares of 4 x 4 words */
        const int64_t row = i / 4 * 4, column = i % 4 * 4;
        nd4c_transpose_4((const uint32_t *)(const void *)w->rows + (key + column) * words + word + row, words,
                         (uint32_t *)(void *)to + row * TILE_SIDE + column, TILE_SIDE);
      }
    }
  }
}

/* Values of two keys lie side by side: tiles of 32 keys and 16 features. */
static void pack_values(const work *w, uint16_t *to) {
  for (int64_t feature = 0; feature < w->v_head; feature += TILE_SIDE) {
    for (int64_t key = 0; key < TILE_NUMBERS; key += 2, to += TILE_NUMBERS) {
      const uint16_t *from = w->rows + key * w->v_head + feature;
      const __m512i low = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));
      const __m512i high = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(from + w->v_head)));
      _mm512_storeu_si512(to, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
  }
}

/* The keys from `first` on, `count` of them, filled up to pairs of tiles; packed unless the buffer still has them. */
static const uint16_t *packed_block(const work *w, int64_t first, int64_t count) {
  const int64_t block = first / KEYS, slot = block % w->slots;
  const int64_t owner = w->panel->number * ((w->panel->keys + KEYS - 1) / KEYS) + block;
  uint16_t *to = w->blocks + slot * block_numbers(w);
  for (int64_t key = 0; w->owners[slot] != owner && key < count; key += TILE_NUMBERS) {
    gather(w, first + key, false, w->head);
    pack_keys(w, to + key * w->head);
    gather(w, first + key, true, w->v_head);
    pack_values(w, to + KEYS * w->head + key * w->v_head);
  }
  w->owners[slot] = owner;
  return to;
}

/* -- scores ------------------------------------------------------------------------------------------------------- */

TILE_INLINED void multiply_keys(const work *w, int rows, int64_t query, const uint16_t *k, int64_t count) {
  const int64_t depth = w->head / TILE_NUMBERS, q_row = w->head * (int64_t)sizeof *w->q;
  for (int64_t key = 0; key < count; key += TILE_NUMBERS, k += TILE_NUMBERS * w->head) {
    tile_zero();
    tile_multiply(rows, 2, depth, w->q + query * w->head, q_row, k, TILE_ALL, depth * TILE_ALL);
    tile_store_sums(rows, 2, w->scores + key, KEYS * sizeof *w->scores);
  }
}

static float masked(const nd4c_attend_panel *p, const void *mask, int64_t at) {
  if (p->mask == ND4C_ATTEND_CHOSEN) {
    return ((const uint8_t *)mask)[at] != 0 ? 0 : -INFINITY;
  }
  return nd4c_bfloat16_to_float(((const uint16_t *)mask)[at]);
}

/* Sixteen numbers of a mask, of which `some` may be read. */
static __m512 mask_at(const nd4c_attend_panel *p, const void *mask, int64_t at, __mmask16 some) {
  if (p->mask_step == 1 && p->mask == ND4C_ATTEND_CHOSEN) {
    const __m128i chosen = _mm_maskz_loadu_epi8(some, (const uint8_t *)mask + at);
    return _mm512_mask_blend_ps(_mm_test_epi8_mask(chosen, chosen), _mm512_set1_ps(-INFINITY), _mm512_setzero_ps());
  }
  if (p->mask_step == 1) {
    const __m256i halves = _mm256_maskz_loadu_epi16(some, (const uint16_t *)mask + at);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
  }
  float bias[TILE_SIDE] = {0};
  for (int i = 0; i < TILE_SIDE; i++) {
    if ((some >> i & 1) != 0) {
      bias[i] = masked(p, mask, (at + i) * p->mask_step);
    }
  }
  return _mm512_loadu_ps(bias);
}

static __m512 capped(__m512 x, float cap) {
  float part[TILE_SIDE];
  _mm512_storeu_ps(part, x);
  for (int i = 0; i < TILE_SIDE; i++) {
    part[i] = cap * nd4c_tanh_float32(part[i] / cap);
  }
  return _mm512_loadu_ps(part);
}

/* The scores of a query with the keys from `first` on: scaled, capped and masked; -infinity for keys that it does not
 * take, even if the score is NaN. */
static void adjust(const work *w, const nd4c_attend_lane *query, int64_t first, int64_t count, float *scores) {
  const nd4c_attend_panel *p = w->operands;
  const __m512i places = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const int64_t from = query->first - first, to = query->last - first;
  const __m512i low = _mm512_set1_epi32(from < 0 ? 0 : from > KEYS ? KEYS : (int32_t)from);
  const __m512i high = _mm512_set1_epi32(to < 0 ? 0 : to > KEYS ? KEYS : (int32_t)to);
  const __m512 left_out = _mm512_set1_ps(-INFINITY);
  for (int64_t i = 0; i < count; i += TILE_SIDE) {
    const __m512i at = _mm512_add_epi32(places, _mm512_set1_epi32((int32_t)i));
    __mmask16 taken = _mm512_cmpge_epi32_mask(at, low) & _mm512_cmplt_epi32_mask(at, high);
    __m512 x = _mm512_loadu_ps(scores + i);
    if (!w->plain) {
      x = _mm512_mul_ps(x, _mm512_set1_ps((float)p->scale));
    }
    if (p->softcap > 0) {
      x = capped(x, (float)p->softcap);
    }
    if (p->mask != ND4C_ATTEND_UNMASKED && taken != 0) {
      const __m512 bias = mask_at(p, query->mask, first + i, taken);
      taken &= _mm512_cmp_ps_mask(bias, left_out, _CMP_NEQ_UQ);
      x = _mm512_add_ps(x, bias);
    }
    _mm512_storeu_ps(scores + i, _mm512_mask_blend_ps(taken, left_out, x));
  }
}

/* -- shares ------------------------------------------------------------------------------------------------------- */

/* A share is relative to a whole power of two, so earlier ones are corrected without rounding; only if they would grow
 * beyond 2^SLACK, for that costs time. */
static void raise_top(const work *w, int64_t query, float most) {
  const float top = ceilf(most);
  if (w->top[query] != -INFINITY) {
    const __m512 power = _mm512_set1_ps(w->top[query] - top);
    float *sums = w->sums + query * TILE_SIDE, *y = w->y + query * w->v_head;
    _mm512_storeu_ps(sums, _mm512_scalef_ps(_mm512_loadu_ps(sums), power));
    for (int64_t i = 0; i < w->v_head; i += TILE_SIDE) {
      _mm512_storeu_ps(y + i, _mm512_scalef_ps(_mm512_loadu_ps(y + i), power));
    }
  }
  w->top[query] = top;
}

/* 2^x, with three digits: it is rounded to bfloat16. What would be subnormal is 0, without being computed, as in
 * pairs.h. */
ND4C_INLINED __m512 power_of_two(__m512 x) {
  const __mmask16 normal = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-126), _CMP_NLT_UQ);
  const __m512 rest = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); /* x - floor(x) */
  __m512 power = _mm512_fmadd_ps(_mm512_set1_ps(0x1.3f96a4p-4F), rest, _mm512_set1_ps(0x1.cefc4ep-3F));
  power = _mm512_fmadd_ps(power, rest, _mm512_set1_ps(0x1.64444ap-1F));
  power = _mm512_fmadd_ps(power, rest, _mm512_set1_ps(0x1.fff632p-1F));
  return _mm512_maskz_scalef_ps(normal, power, x); /* by 2^floor(x) */
}

/* A query's scores become shares. `vectors`, an even number, is a constant where this is called. */
TILE_INLINED void soften_row(const work *w, int64_t query, int vectors, const float *scores, uint16_t *shares) {
  const __m512bh ones = (__m512bh)_mm512_set1_epi32(0x3f803f80);
  __m512 x[KEYS / TILE_SIDE], most[2];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++) {
    x[v] = _mm512_loadu_ps(scores + v * TILE_SIDE);
    most[v % 2] = v < 2 ? x[v] : _mm512_max_ps(most[v % 2], x[v]);
  }
  const float top = _mm512_reduce_max_ps(_mm512_max_ps(most[0], most[1])) * w->factor;
  if (top > w->top[query] + SLACK) {
    raise_top(w, query, top);
  }
  const __m512 less = _mm512_set1_ps(w->top[query] == -INFINITY ? 0 : -w->top[query]);
  const __m512 factor = _mm512_set1_ps(w->factor);
  __m512 sum = _mm512_loadu_ps(w->sums + query * TILE_SIDE);
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v += 2) {
    const __m512 low = power_of_two(_mm512_fmadd_ps(x[v], factor, less));
    const __m512 high = power_of_two(_mm512_fmadd_ps(x[v + 1], factor, less));
    const __m512bh both = _mm512_cvtne2ps_pbh(high, low);
    _mm512_storeu_si512(shares + v * TILE_SIDE, (__m512i)both);
    sum = _mm512_dpbf16_ps(sum, both, ones);
  }
  _mm512_storeu_ps(w->sums + query * TILE_SIDE, sum);
}

TILE_INLINED void soften_rows(const work *w, int64_t query, int64_t queries, int64_t first, int64_t count,
                              int vectors) {
  for (int64_t i = 0; i < queries; i++) {
    const nd4c_attend_lane *lane = &w->panel->query[query + i];
    float *scores = w->scores + i * KEYS;
    if (!w->plain || lane->first > first || lane->last < first + count) {
      adjust(w, lane, first, count, scores);
    }
    soften_row(w, query + i, vectors, scores, w->shares + i * KEYS);
  }
}

/* count: a multiple of TILE_NUMBERS. */
TILE_CODE static void soften(const work *w, int64_t query, int64_t queries, int64_t first, int64_t count) {
  TILE_FENCE();
  if (count == KEYS) {
    soften_rows(w, query, queries, first, count, 8);
  } else if (count == 96) {
    soften_rows(w, query, queries, first, count, 6);
  } else if (count == 64) {
    soften_rows(w, query, queries, first, count, 4);
  } else {
    soften_rows(w, query, queries, first, count, 2);
  }
  TILE_FENCE();
}

/* -- results ------------------------------------------------------------------------------------------------------ */

/* Adds the values from feature `i` on, `columns` tiles of them. */
TILE_INLINED void add_columns(const work *w, int rows, int columns, int64_t query, int64_t i, const uint16_t *v,
                              int64_t count) {
  float *y = w->y + query * w->v_head + i;
  const int64_t y_row = w->v_head * (int64_t)sizeof *y;
  tile_load_sums(rows, columns, y, y_row);
  tile_multiply(rows, columns, count / TILE_NUMBERS, w->shares, KEYS * sizeof *w->shares, v + i * TILE_NUMBERS,
                w->v_head * TILE_NUMBERS, TILE_ALL);
  tile_store_sums(rows, columns, y, y_row);
}

TILE_INLINED void add_values(const work *w, int rows, int64_t query, const uint16_t *v, int64_t count) {
  int64_t i = 0;
  for (; i + 2 * TILE_SIDE <= w->v_head; i += 2 * TILE_SIDE) {
    add_columns(w, rows, 2, query, i, v, count);
  }
  if (i < w->v_head) {
    add_columns(w, rows, 1, query, i, v, count);
  }
}

/* A block of keys and a group of queries. */
TILE_CODE static void attend_block(const work *w, int64_t query, const uint16_t *block, int64_t first, int64_t count) {
  const int64_t left = w->panel->queries - query, queries = left < GROUP ? left : GROUP;
  const uint16_t *v = block + KEYS * w->head;
  if (queries > TILE_SIDE) {
    multiply_keys(w, 2, query, block, count);
    soften(w, query, queries, first, count);
    add_values(w, 2, query, v, count);
  } else {
    multiply_keys(w, 1, query, block, count);
    soften(w, query, queries, first, count);
    add_values(w, 1, query, v, count);
  }
}

static void store_row(const work *w, const nd4c_attend_lane *query, const float *y) {
  const int64_t n = w->operands->v_head;
  uint16_t *to = query->y;
  if (w->operands->y_feature == 1) {
    nd4c_narrow_bfloat16(n, y, to);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    to[i * w->operands->y_feature] = nd4c_bfloat16_from_float(y[i]);
  }
}

/* Divides a group's results by the sums and stores them, if all are finite. A query without keys has 0. */
static bool finish(const work *w, int64_t query, int64_t queries) {
  __m512 probe = _mm512_setzero_ps();
  for (int64_t q = query; q < query + queries; q++) {
    const float sum = _mm512_reduce_add_ps(_mm512_loadu_ps(w->sums + q * TILE_SIDE));
    const __m512 factor = _mm512_set1_ps(sum != 0 ? 1 / sum : 0);
    for (float *y = w->y + q * w->v_head, *end = y + w->v_head; y < end; y += TILE_SIDE) {
      const __m512 results = _mm512_mul_ps(_mm512_loadu_ps(y), factor);
      probe = _mm512_fmadd_ps(results, _mm512_setzero_ps(), probe);
      _mm512_storeu_ps(y, results);
    }
  }
  if (_mm512_reduce_add_ps(probe) != 0) {
    return false;
  }
  for (int64_t q = query; q < query + queries; q++) {
    store_row(w, &w->panel->query[q], w->y + q * w->v_head);
  }
  return true;
}

/* -- panels ------------------------------------------------------------------------------------------------------- */

static void load_queries(const work *w) {
  const nd4c_attend_panel *p = w->operands;
  const int64_t whole = filled_up(w->panel->queries, TILE_SIDE);
  for (int64_t i = 0; i < whole; i++) {
    const bool is_one = i < w->panel->queries;
    copy_row(is_one ? p->head : 0, w->head, is_one ? w->panel->query[i].q : w->q, is_one ? p->q_feature : 1,
             w->q + i * w->head);
    w->top[i] = -INFINITY;
  }
  memset(w->sums, 0, (size_t)(whole * TILE_SIDE) * sizeof *w->sums);
  memset(w->y, 0, (size_t)(whole * w->v_head) * sizeof *w->y);
}

/* The keys that any of some queries takes. */
static void reach_of(const nd4c_tiled_panel *panel, int64_t query, int64_t queries, int64_t *first, int64_t *last) {
  *first = panel->query[query].first;
  *last = panel->query[query].last;
  for (int64_t i = query + 1; i < query + queries; i++) {
    *first = panel->query[i].first < *first ? panel->query[i].first : *first;
    *last = panel->query[i].last > *last ? panel->query[i].last : *last;
  }
}

static uint32_t attend(const nd4c_tiled_panel *panel, void *buffer) {
  const nd4c_attend_panel *p = panel->operands;
  work w = {.panel = panel, .operands = p};
  int64_t first[ND4C_TILED_QUERIES / GROUP], last[ND4C_TILED_QUERIES / GROUP], from, to;
  uint32_t refused = 0;
  (void)divide(&w, p->head, p->v_head, panel->keys, buffer);
  w.plain = p->mask == ND4C_ATTEND_UNMASKED && p->softcap <= 0 && p->scale > 0;
  w.factor = 0x1.715476p+0F * (w.plain ? (float)p->scale : 1);
  load_queries(&w);
  reach_of(panel, 0, panel->queries, &from, &to);
  for (int64_t query = 0, left; query < panel->queries; query += GROUP) {
    left = panel->queries - query;
    reach_of(panel, query, left < GROUP ? left : GROUP, &first[query / GROUP], &last[query / GROUP]);
  }
  tile_shapes before;
  tiles_enter(&before);
  for (int64_t key = from / KEYS * KEYS, count; key < to; key += KEYS) {
    count = filled_up(panel->keys - key < KEYS ? panel->keys - key : KEYS, TILE_NUMBERS);
    const uint16_t *block = packed_block(&w, key, count);
    for (int64_t group = 0; group * GROUP < panel->queries; group++) {
      if (first[group] < key + count && last[group] > key) {
        attend_block(&w, group * GROUP, block, key, count);
      }
    }
  }
  tiles_leave(&before);
  for (int64_t query = 0, left; query < panel->queries; query += GROUP) {
    left = panel->queries - query;
    if (!finish(&w, query, left < GROUP ? left : GROUP)) {
      refused |= 1U << (query / GROUP);
    }
  }
  return refused;
}

const nd4c_tiled_table ND4C_LEVEL_NAME(nd4c_tiled_table) = {
    .exists = true, .buffer_bytes = buffer_bytes, .start = start, .attend = attend};

#else

const nd4c_tiled_table ND4C_LEVEL_NAME(nd4c_tiled_table) = {.exists = false};

#endif
