/* Strips of depthwise_last.h: windows of 3, 5 or 7 taps in a row, one or two cells apart. Each cell of x is read and
 * widened once for all places whose windows see it, and the weights of a row of taps stay in registers.
 * depthwise_last.c includes this. */

/* MOST_PLACES: and taps. AT_ONCE: vectors of a block's two whose sums and weights stay in registers together: two fill
 * 28 of them, and AVX2 has 16. */
#if defined(__AVX512F__) || defined(ND4C_HAS_NEON)
enum { MOST_PLACES = 7, AT_ONCE = 2 };
#else
enum { MOST_PLACES = 7, AT_ONCE = 1 };
#endif

/* What strips read is a fact of the compiled loop; of bfloat16 a strip writes the sums, or joins them to bfloat16. */
typedef enum strip_kind { STRIP_FLOAT32, STRIP_BFLOAT16 } strip_kind;

typedef struct strip_place {
  const nd4c_depthwise_strip *strip;
  const void *x;
  const float *w, *bias;
  nd4c_inner_activation activation;
  bool joins; /* y has bfloat16 */
  void *y;
  int64_t y_step;
  int64_t first;         /* the cell of x that the first tap of the first place sees; less than 0: none */
  int64_t channel, left; /* the first one of the block, and how many follow, that one too */
} strip_place;

ND4C_INLINED void put_bfloat16(bool whole, vector_bits both, int64_t left, uint16_t *y) {
  if (whole) {
    memcpy(y, &both, sizeof both);
    return;
  }
#if defined(__AVX512F__)
  _mm512_mask_storeu_epi16(y, (__mmask32)((UINT64_C(1) << left) - 1), (__m512i)both);
#else
  memcpy(y, &both, (size_t)left * sizeof *y);
#endif
}

/* Which vectors of a block: constants where they are used. */
typedef struct some_vectors {
  int first, end;
} some_vectors;

ND4C_INLINED void put_place(strip_kind kind, bool whole, some_vectors some, const strip_place *p, int place, pair sum) {
  const int64_t at = place * p->y_step + p->channel;
#pragma GCC unroll 2
  for (int v = some.first; v < some.end; v++) {
    sum.v[v] = vector_activated_float32(sum.v[v], p->activation);
  }
  if (kind == STRIP_BFLOAT16 && p->joins) {
    put_bfloat16(whole, joined(sum.v[0], sum.v[1]), p->left, (uint16_t *)p->y + at);
    return;
  }
#pragma GCC unroll 2
  for (int v = some.first; v < some.end; v++) {
    put(kind == STRIP_BFLOAT16 || whole, sum.v[v], p->left - v * LANES, (float *)p->y + at + v * LANES);
  }
}

ND4C_INLINED pair load_cell(strip_kind kind, bool whole, some_vectors some, const strip_place *p, int64_t at) {
  if (kind == STRIP_BFLOAT16) {
    return load_bfloat16(whole, p->x, at, p->left);
  }
  pair cell = {{{0}, {0}}};
#pragma GCC unroll 2
  for (int v = some.first; v < some.end; v++) {
    const float *from = (const float *)p->x + at + v * LANES;
    cell.v[v] = whole ? vector_load_float32(from) : load_some(from, p->left - v * LANES);
  }
  return cell;
}

/* Adds a row of taps to the sums of `places` places. The numbers are known when this is compiled; `inside`: all taps
 * see cells. */
ND4C_INLINED void add_row(strip_kind kind, int taps, int stride, int places, bool inside, bool whole, some_vectors some,
                          const strip_place *p, int64_t x_at, const float *w, pair *sum) {
  const nd4c_depthwise_strip *strip = p->strip;
  pair weight[MOST_PLACES];
#pragma GCC unroll 8
  for (int k = 0; k < taps; k++) {
#pragma GCC unroll 2
    for (int v = some.first; v < some.end; v++) {
      weight[k].v[v] = vector_load_float32(w + k * strip->w_step + v * LANES);
    }
  }
#pragma GCC unroll 32
  for (int i = 0; i < (places - 1) * stride + taps; i++) {
    if (!inside && (uint64_t)(p->first + i) >= (uint64_t)strip->cells) {
      continue;
    }
    const int64_t at = x_at + (p->first + i) * strip->x_step;
    const pair cell = load_cell(kind, whole, some, p, at);
#pragma GCC unroll 8
    for (int r = 0; r < places; r++) {
      const int k = i - r * stride;
      if (k >= 0 && k < taps) {
#pragma GCC unroll 2
        for (int v = some.first; v < some.end; v++) {
          sum[r].v[v] = vector_fused_float32(cell.v[v], weight[k].v[v], sum[r].v[v]);
        }
      }
    }
  }
}

ND4C_INLINED void strip_vectors(strip_kind kind, int taps, int stride, int places, bool inside, bool whole,
                                some_vectors some, const strip_place *p) {
  const nd4c_depthwise_strip *strip = p->strip;
  const float *bias = p->bias + p->channel, *w = p->w + p->channel;
  pair sum[MOST_PLACES];
#pragma GCC unroll 8
  for (int r = 0; r < places; r++) {
#pragma GCC unroll 2
    for (int v = some.first; v < some.end; v++) {
      sum[r].v[v] = vector_load_float32(bias + v * LANES);
    }
  }
  for (int64_t row = 0; row < strip->rows; row++) {
    add_row(kind, taps, stride, places, inside, whole, some, p, p->channel + row * strip->x_row_step,
            w + row * strip->w_row_step, sum);
  }
#pragma GCC unroll 8
  for (int r = 0; r < places; r++) {
    put_place(kind, whole, some, p, r, sum[r]);
  }
}

/* The vectors of a block together, or one after the other; bfloat16 has both in each word. */
ND4C_INLINED void strip_block(strip_kind kind, int taps, int stride, int places, bool inside, bool whole,
                              const strip_place *p) {
  if (AT_ONCE == 2 || kind == STRIP_BFLOAT16) {
    strip_vectors(kind, taps, stride, places, inside, whole, (some_vectors){0, 2}, p);
    return;
  }
  strip_vectors(kind, taps, stride, places, inside, whole, (some_vectors){0, 1}, p);
  if (whole || p->left > LANES) {
    strip_vectors(kind, taps, stride, places, inside, whole, (some_vectors){1, 2}, p);
  }
}

/* All channels of `places` places. */
ND4C_INLINED void strip_piece(strip_kind kind, int taps, int stride, int places, int64_t channels, strip_place *p) {
  const bool inside = p->first >= 0 && p->first + (places - 1) * stride + taps <= p->strip->cells;
  p->left = BLOCK;
  for (p->channel = 0; p->channel + BLOCK <= channels; p->channel += BLOCK) {
    if (inside) {
      strip_block(kind, taps, stride, places, true, true, p);
    } else {
      strip_block(kind, taps, stride, places, false, true, p);
    }
  }
  if (AT_ONCE == 1 && kind == STRIP_FLOAT32 && inside && p->channel < channels && channels >= BLOCK) {
    /* The last vectors again, from the end: masks cost more. */
    const bool half = channels - p->channel <= LANES;
    p->channel = channels - BLOCK;
    if (!half) {
      strip_vectors(kind, taps, stride, places, true, true, (some_vectors){0, 1}, p);
    }
    strip_vectors(kind, taps, stride, places, true, true, (some_vectors){1, 2}, p);
  } else if (p->channel < channels) {
    p->left = channels - p->channel;
    strip_block(kind, taps, stride, places, false, false, p);
  }
}

typedef void (*strip_loop)(int64_t channels, strip_place *p);

/* A function for each number of taps, step and number of places: compilers take minutes for all of them in one. */
#define STRIP_LOOP(name, kind, taps, stride, places)                                                            \
  __attribute__((noinline)) static void name##_##taps##_##stride##_##places(int64_t channels, strip_place *p) { \
    strip_piece(kind, taps, stride, places, channels, p);                                                       \
  }
#define STRIP_LOOPS_OF_STEP(name, kind, taps, stride) \
  STRIP_LOOP(name, kind, taps, stride, 1)             \
  STRIP_LOOP(name, kind, taps, stride, 2)             \
  STRIP_LOOP(name, kind, taps, stride, 4)             \
  STRIP_LOOP(name, kind, taps, stride, 7)
#define STRIP_LOOPS(name, kind)         \
  STRIP_LOOPS_OF_STEP(name, kind, 3, 1) \
  STRIP_LOOPS_OF_STEP(name, kind, 3, 2) \
  STRIP_LOOPS_OF_STEP(name, kind, 5, 1) \
  STRIP_LOOPS_OF_STEP(name, kind, 5, 2) \
  STRIP_LOOPS_OF_STEP(name, kind, 7, 1) \
  STRIP_LOOPS_OF_STEP(name, kind, 7, 2)

STRIP_LOOPS(loop_float32, STRIP_FLOAT32)
STRIP_LOOPS(loop_bfloat16, STRIP_BFLOAT16)

/* By taps, step and places. */
#define STRIP_ROW(name, taps, stride)                                                        \
  {name##_##taps##_##stride##_1, name##_##taps##_##stride##_2, name##_##taps##_##stride##_4, \
   name##_##taps##_##stride##_7}
#define STRIP_TABLE(name)                                                                             \
  {                                                                                                   \
    {STRIP_ROW(name, 3, 1), STRIP_ROW(name, 3, 2)}, {STRIP_ROW(name, 5, 1), STRIP_ROW(name, 5, 2)}, { \
      STRIP_ROW(name, 7, 1), STRIP_ROW(name, 7, 2)                                                    \
    }                                                                                                 \
  }

static const strip_loop strip_loops[][3][2][4] = {
    [STRIP_FLOAT32] = STRIP_TABLE(loop_float32), [STRIP_BFLOAT16] = STRIP_TABLE(loop_bfloat16)};

static bool serves_strip(int64_t taps, int64_t stride) {
  return (taps == 3 || taps == 5 || taps == 7) && (stride == 1 || stride == 2);
}

static void strip_any(strip_kind kind, int64_t places, int64_t channels, strip_place p) {
  const int64_t bytes = p.joins ? sizeof(uint16_t) : sizeof(float);
  const strip_loop *loops = strip_loops[kind][(p.strip->taps - 3) / 2][p.strip->stride - 1];
  p.first = -p.strip->padding;
  while (places > 0) {
    const int64_t some = places >= MOST_PLACES ? MOST_PLACES : places >= 4 ? 4 : places >= 2 ? 2 : 1;
    loops[some == MOST_PLACES ? 3 : some / 2](channels, &p);
    p.first += some * p.strip->stride;
    p.y = (char *)p.y + some * p.y_step * bytes;
    places -= some;
  }
}

#define STRIP(name, kind, to_join, X, Y)                                                                            \
  static void name(const nd4c_depthwise_strip *strip, int64_t places, int64_t channels, const X *x, const float *w, \
                   const float *bias, nd4c_inner_activation activation, Y *y, int64_t y_step) {                     \
    strip_any(kind, places, channels,                                                                               \
              (strip_place){.strip = strip,                                                                         \
                            .x = x,                                                                                 \
                            .w = w,                                                                                 \
                            .bias = bias,                                                                           \
                            .activation = activation,                                                               \
                            .joins = to_join,                                                                       \
                            .y = y,                                                                                 \
                            .y_step = y_step});                                                                     \
  }

STRIP(strip_float32, STRIP_FLOAT32, false, float, float)
STRIP(strip_sums_bfloat16, STRIP_BFLOAT16, false, uint16_t, float)
STRIP(strip_bfloat16, STRIP_BFLOAT16, true, uint16_t, uint16_t)
