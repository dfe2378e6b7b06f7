/* Implements recurrent.h with the vectors of gemm_vector.h. Compiled once per level. simd/recurrent.c reads the table
 * by nd4c_simd.recurrent. */
#include "kernels/cpu/recurrent/recurrent.h"

#include <stdbool.h>
#include <stddef.h>

#include "kernels/cpu/contraction/gemm_vector.h"
#include "kernels/cpu/elementwise/activation.h"
#include "kernels/cpu/elementwise/exponential_vector.h"
#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/support/level.h"

extern const nd4c_recurrent_table ND4C_LEVEL_NAME(nd4c_recurrent_table);

/* Rows of a tile, whose sums stay in registers. Of 16 vectors of 32 bytes, six rows of two fill the most that a tile
 * leaves to its sums, and four rows of three. */
enum { LANES = VECTOR_BYTES / sizeof(float), ROWS = VECTOR_BYTES == 64 ? 8 : VECTOR_BYTES == 32 ? 6 : 4 };

ND4C_INLINED int rows_of_tile(int vectors) {
  return VECTOR_BYTES == 32 && vectors > 2 ? 4 : ROWS;
}

static void pack(int64_t gates, int64_t units, int64_t k, const float *w, int64_t gate_stride, int64_t row_stride,
                 int64_t column_stride, float *to) {
  /* Four gates are multiplied two at a time. */
  int64_t together = gates == 4 ? 2 : gates;
  for (int64_t first = 0; first < gates; first += together) {
    for (int64_t g = 0; g < together; g++) {
      for (int64_t l = 0; l < LANES; l++) {
        const float *row = w + (first + g) * gate_stride + l * row_stride;
        float *column = to + g * LANES + l;
        for (int64_t i = 0; i < k; i++) {
          column[i * together * LANES] = l < units ? row[i * column_stride] : 0;
        }
      }
    }
    to += together * LANES * k;
  }
}

/* Bytes by which weights are prefetched. The weights of the state stay in the second-level cache between steps. */
enum { AHEAD = 2048, LINE_BYTES = 64 };

ND4C_INLINED void ask_ahead(int vectors, const float *packed) {
#pragma GCC unroll 12
  for (int v = 0; v < vectors; v += LINE_BYTES / VECTOR_BYTES) {
    ND4C_PREFETCH((uintptr_t)(packed + v * LANES) + AHEAD);
  }
}

/* Terms that a tile adds up before it adds what was there: the error of a sum grows with its length, and with the size
 * of what it begins with. */
enum { SUM_TERMS = 128 };

/* One tile: `rows` rows of `vectors` vectors; callers pass constants for both. Four vectors are two panels of two,
 * which lie `panel` numbers apart. `is_first`: no tile has read these weights yet, so they are prefetched. */
ND4C_INLINED void tile(bool is_first, int rows, int vectors, int64_t k, const float *a, int64_t a_stride,
                       const float *packed, int64_t panel, const float *start, int64_t start_stride, float *to,
                       int64_t to_stride) {
  int together = vectors == 4 ? 2 : vectors;
  vector_float32 sum[ROWS][4];
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      sum[r][v] = vector_repeat_float32(0);
    }
  }
#pragma GCC unroll 2
  for (int64_t i = 0; i < k; i++) {
    vector_float32 b[4];
    if (is_first) {
      ask_ahead(together, packed);
    }
    if (is_first && vectors > together) {
      ask_ahead(together, packed + panel);
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      b[v] = vector_load_float32(packed + v / together * panel + v % together * LANES);
      ND4C_IN_REGISTER(b[v]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
      vector_float32 factor = vector_repeat_float32(a[r * a_stride + i]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) {
        sum[r][v] = vector_fused_float32(factor, b[v], sum[r][v]);
      }
    }
    packed += together * LANES;
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      if (start != NULL) {
        sum[r][v] += vector_load_float32(start + r * start_stride + v * LANES);
      }
      vector_store_float32(to + r * to_stride + v * LANES, sum[r][v]);
    }
  }
}

/* One row, in four independent sums of all terms, because one sum would wait for each multiplication. */
ND4C_INLINED void single(int vectors, int64_t k, const float *a, const float *packed, const float *start, float *to) {
  vector_float32 sum[4][3];
#pragma GCC unroll 4
  for (int p = 0; p < 4; p++) {
#pragma GCC unroll 3
    for (int v = 0; v < vectors; v++) {
      sum[p][v] = vector_repeat_float32(0);
    }
  }
  int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
    ask_ahead(4 * vectors, packed);
#pragma GCC unroll 4
    for (int p = 0; p < 4; p++) {
      vector_float32 factor = vector_repeat_float32(a[i + p]);
#pragma GCC unroll 3
      for (int v = 0; v < vectors; v++) {
        sum[p][v] = vector_fused_float32(factor, vector_load_float32(packed + (p * vectors + v) * LANES), sum[p][v]);
      }
    }
    packed += 4 * vectors * LANES;
  }
  for (; i < k; i++, packed += vectors * LANES) {
    vector_float32 factor = vector_repeat_float32(a[i]);
#pragma GCC unroll 3
    for (int v = 0; v < vectors; v++) {
      sum[0][v] = vector_fused_float32(factor, vector_load_float32(packed + v * LANES), sum[0][v]);
    }
  }
#pragma GCC unroll 3
  for (int v = 0; v < vectors; v++) {
    vector_float32 all = (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]);
    if (start != NULL) {
      all += vector_load_float32(start + v * LANES);
    }
    vector_store_float32(to + v * LANES, all);
  }
}

#define REMAINDER(count)                                                                           \
  case count:                                                                                      \
    tile(is_first, count, vectors, k, a, a_stride, packed, 0, start, start_stride, to, to_stride); \
    break;

/* All rows, with `k` terms, whose weights stay in the first-level cache. */
ND4C_INLINED void rows_of(int vectors, int64_t rows, int64_t k, const float *a, int64_t a_stride, const float *packed,
                          const float *start, int64_t start_stride, float *to, int64_t to_stride) {
  const int most = rows_of_tile(vectors);
  bool is_first = true;
  for (; rows >= most; rows -= most, is_first = false) {
    if (is_first) {
      tile(true, most, vectors, k, a, a_stride, packed, 0, start, start_stride, to, to_stride);
    } else {
      tile(false, most, vectors, k, a, a_stride, packed, 0, start, start_stride, to, to_stride);
    }
    a += most * a_stride;
    start = start != NULL ? start + most * start_stride : NULL;
    to += most * to_stride;
  }
  /* One tile takes all rows that are left, so that it reads the weights once. */
  switch (rows) {
#if defined(__AVX512F__)
    REMAINDER(7)
    REMAINDER(6)
#endif
#if defined(__AVX2__)
    REMAINDER(5)
    REMAINDER(4)
#endif
    REMAINDER(3)
    REMAINDER(2)
    case 1:
      single(vectors, k, a, packed, start, to);
      break;
    default:
      break;
  }
}
#undef REMAINDER

/* All four gates of a few rows at once: more multiplications for each number that is loaded. False if the rows do not
 * fit the registers so. */
static bool product_four(int64_t rows, int64_t k, const float *a, int64_t a_stride, const float *packed,
                         const float *start, int64_t start_stride, float *to, int64_t to_stride) {
#define FOUR(count)                                                                                                    \
  if (VECTOR_BYTES == 64 && rows == (count)) {                                                                         \
    for (int64_t done = 0; done == 0 || done < k; done += SUM_TERMS) {                                                 \
      tile(true, count, 4, k - done < SUM_TERMS ? k - done : SUM_TERMS, a + done, a_stride, packed + 2 * LANES * done, \
           2 * LANES * k, start, start_stride, to, to_stride);                                                         \
      start = to;                                                                                                      \
      start_stride = to_stride;                                                                                        \
    }                                                                                                                  \
    return true;                                                                                                       \
  }
  FOUR(2)
  FOUR(3)
  FOUR(4)
  FOUR(5)
  FOUR(6)
  return false;
#undef FOUR
}

#define OF_VECTORS(vectors)                                                                                      \
  static void product_##vectors(int64_t rows, int64_t k, const float *a, int64_t a_stride, const float *packed,  \
                                const float *start, int64_t start_stride, float *to, int64_t to_stride) {        \
    int64_t most = rows == 1 ? k : SUM_TERMS; /* one row has four sums */                                        \
    for (int64_t done = 0; done == 0 || done < k; done += most) {                                                \
      int64_t deep = k - done < most ? k - done : most;                                                          \
      rows_of(vectors, rows, deep, a + done, a_stride, packed + done * vectors * LANES, start, start_stride, to, \
              to_stride);                                                                                        \
      start = to;                                                                                                \
      start_stride = to_stride;                                                                                  \
    }                                                                                                            \
  }
OF_VECTORS(1)
OF_VECTORS(2)
OF_VECTORS(3)

static void product(int64_t rows, int64_t gates, int64_t k, const float *a, int64_t a_stride, const float *packed,
                    const float *start, int64_t start_stride, float *to, int64_t to_stride) {
  switch (gates) {
    case 1:
      product_1(rows, k, a, a_stride, packed, start, start_stride, to, to_stride);
      break;
    case 3:
      product_3(rows, k, a, a_stride, packed, start, start_stride, to, to_stride);
      break;
    default:
      if (gates == 4 && product_four(rows, k, a, a_stride, packed, start, start_stride, to, to_stride)) {
        break;
      }
      for (int64_t first = 0; first < gates; first += 2) {
        product_2(rows, k, a, a_stride, packed + first * LANES * k, start != NULL ? start + first * LANES : NULL,
                  start_stride, to + first * LANES, to_stride);
      }
      break;
  }
}

/* -- gates ------------------------------------------------------------------------------------------------------ */

/* The compiler vectorises whole blocks, whose length is a constant. */
#define FOR_UNITS(body)                   \
  if (units == LANES) {                   \
    ND4C_INDEPENDENT                      \
    for (int l = 0; l < LANES; l++) {     \
      body                                \
    }                                     \
  } else {                                \
    for (int64_t l = 0; l < units; l++) { \
      body                                \
    }                                     \
  }

/* Apply a gate's function to all lanes of a block. */
#if defined(__AVX512F__)
/* The error is at most two units in the last place. From 0.6 on it is (1 - e) / (1 + e), where 1 - e cancels little. */
ND4C_INLINED __m512 tanh_sixteen(__m512 x) {
  const __m512 sign = _mm512_set1_ps(-0.0F), one = _mm512_set1_ps(1), a = _mm512_andnot_ps(sign, x);
  __m512 z = _mm512_mul_ps(x, x), q = _mm512_set1_ps(2.179462928e-03F); /* as nd4c_tanh_float32 */
  q = _mm512_fmadd_ps(z, q, _mm512_set1_ps(-8.216559887e-03F));
  q = _mm512_fmadd_ps(z, q, _mm512_set1_ps(2.171631157e-02F));
  q = _mm512_fmadd_ps(z, q, _mm512_set1_ps(-5.394958705e-02F));
  q = _mm512_fmadd_ps(z, q, _mm512_set1_ps(1.333322823e-01F));
  q = _mm512_fmadd_ps(z, q, _mm512_set1_ps(-3.333333135e-01F));
  __m512 small = _mm512_fmadd_ps(_mm512_mul_ps(a, z), q, a), e = nd4c_exp_sixteen(_mm512_mul_ps(a, _mm512_set1_ps(-2)));
  __m512 large = _mm512_div_ps(_mm512_sub_ps(one, e), _mm512_add_ps(one, e));
  __m512 t = _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, _mm512_set1_ps(0.6F), _CMP_LT_OQ), large, small);
  return _mm512_or_ps(t, _mm512_and_ps(sign, x));
}
#endif

ND4C_INLINED void tanhs(const float *x, float *y) {
#if defined(__AVX512F__)
  vector_store_float32(y, tanh_sixteen(vector_load_float32(x)));
#else
  ND4C_INDEPENDENT
  for (int l = 0; l < LANES; l++) {
    y[l] = nd4c_tanh_float32(x[l]);
  }
#endif
}

ND4C_INLINED void sigmoids(const float *x, float *y) {
#if defined(__AVX512F__)
  vector_store_float32(y, nd4c_sigmoid_sixteen(vector_load_float32(x)));
#else
  ND4C_INDEPENDENT
  for (int l = 0; l < LANES; l++) {
    y[l] = nd4c_sigmoid_float32(x[l]);
  }
#endif
}

/* The op table's numbers; a static assertion in the backend ties the two. */
enum { RELU, TANH, SIGMOID, AFFINE, LEAKY_RELU, THRESHOLDED_RELU, SCALED_TANH, HARD_SIGMOID, ELU, SOFTSIGN, SOFTPLUS };

#define OF_EACH(expression)         \
  ND4C_INDEPENDENT                  \
  for (int l = 0; l < LANES; l++) { \
    y[l] = (expression);            \
  }                                 \
  break;

/* Any activation. NaN stays NaN. */
static void activate(const nd4c_recurrent_function *f, const float *restrict x, float *restrict y) {
  const double alpha = f->alpha, beta = f->beta;
  const float factor = (float)alpha, inner = (float)beta;
  float scaled[LANES];
  switch (f->kind) {
    case RELU:
      OF_EACH(x[l] < 0 ? 0 : x[l])
    case SIGMOID:
      sigmoids(x, y);
      break;
    case AFFINE:
      OF_EACH((float)(alpha * (double)x[l] + beta))
    case LEAKY_RELU:
      OF_EACH(nd4c_leaky_relu_float32(x[l], factor))
    case THRESHOLDED_RELU:
      OF_EACH((double)x[l] < alpha ? 0 : x[l])
    case SCALED_TANH:
      for (int l = 0; l < LANES; l++) {
        scaled[l] = inner * x[l];
      }
      tanhs(scaled, y);
      OF_EACH(factor * y[l])
    case HARD_SIGMOID:
      OF_EACH(nd4c_hard_sigmoid_float32(x[l], alpha, beta))
    case ELU:
      OF_EACH(nd4c_elu_float32(x[l], factor))
    case SOFTSIGN:
      OF_EACH(nd4c_softsign_float32(x[l]))
    case SOFTPLUS:
      OF_EACH(nd4c_softplus_float32(x[l]))
    case TANH:
    default:
      tanhs(x, y);
      break;
  }
}
#undef OF_EACH

/* A gate's function of x, bounded first. x and y are not the same memory. */
ND4C_INLINED void open_gate(const nd4c_recurrent_function *f, const float *x, float *y) {
  const float clip = f->clip;
  float bounded[LANES];
  if (clip > 0) {
    for (int l = 0; l < LANES; l++) {
      bounded[l] = x[l] > clip ? clip : x[l] < -clip ? -clip : x[l];
    }
    x = bounded;
  }
  if (f->kind == SIGMOID) {
    sigmoids(x, y);
  } else if (f->kind == TANH) {
    tanhs(x, y);
  } else {
    activate(f, x, y);
  }
}

static void rnn(int64_t rows, int64_t units, const nd4c_recurrent_function *f, const float *gate, int64_t gate_stride,
                float *h, int64_t h_stride) {
  for (int64_t r = 0; r < rows; r++, gate += gate_stride, h += h_stride) {
    float state[LANES];
    open_gate(&f[0], gate, state);
    FOR_UNITS(h[l] = state[l];)
  }
}

static void lstm(int64_t rows, int64_t units, const nd4c_recurrent_function *f, const float *gates,
                 int64_t gates_stride, float *c, int64_t c_stride, float *h, int64_t h_stride) {
  for (int64_t r = 0; r < rows; r++, gates += gates_stride, c += c_stride, h += h_stride) {
    float in[LANES], out[LANES], forget[LANES], cell[LANES], state[LANES] = {0};
    open_gate(&f[0], gates, in);
    open_gate(&f[0], gates + LANES, out);
    open_gate(&f[0], gates + 2 * LANES, forget);
    open_gate(&f[1], gates + 3 * LANES, cell);
    FOR_UNITS(state[l] = forget[l] * c[l] + in[l] * cell[l]; c[l] = state[l];)
    open_gate(&f[2], state, cell);
    FOR_UNITS(h[l] = out[l] * cell[l];)
  }
}

static void gru(int64_t rows, int64_t units, const nd4c_recurrent_function *f, const float *gates, int64_t gates_stride,
                const float *x, int64_t x_stride, const float *before, int64_t before_stride, float *h,
                int64_t h_stride) {
  for (int64_t r = 0; r < rows; r++, gates += gates_stride, x += x_stride, before += before_stride, h += h_stride) {
    float z[LANES], reset[LANES], sum[LANES] = {0}, hidden[LANES];
    open_gate(&f[0], gates, z);
    open_gate(&f[0], gates + LANES, reset);
    FOR_UNITS(sum[l] = x[l] + reset[l] * gates[2 * LANES + l];)
    open_gate(&f[1], sum, hidden);
    FOR_UNITS(h[l] = (1 - z[l]) * hidden[l] + z[l] * before[l];)
  }
}

static void gru_reset(int64_t rows, int64_t units, const nd4c_recurrent_function *f, const float *gates,
                      int64_t gates_stride, const float *before, int64_t before_stride, float *z, float *reset,
                      int64_t stride) {
  for (int64_t r = 0; r < rows; r++, gates += gates_stride, before += before_stride, z += stride, reset += stride) {
    float all_z[LANES], factors[LANES];
    open_gate(&f[0], gates, all_z);
    open_gate(&f[0], gates + LANES, factors);
    FOR_UNITS(z[l] = all_z[l]; reset[l] = factors[l] * before[l];)
  }
}

static void gru_update(int64_t rows, int64_t units, const nd4c_recurrent_function *f, const float *gate,
                       int64_t gate_stride, const float *z, int64_t z_stride, const float *before,
                       int64_t before_stride, float *h, int64_t h_stride) {
  for (int64_t r = 0; r < rows; r++, gate += gate_stride, z += z_stride, before += before_stride, h += h_stride) {
    float hidden[LANES];
    open_gate(&f[1], gate, hidden);
    FOR_UNITS(h[l] = (1 - z[l]) * hidden[l] + z[l] * before[l];)
  }
}

const nd4c_recurrent_table ND4C_LEVEL_NAME(nd4c_recurrent_table) = {.lanes = LANES,
                                                                    .pack = pack,
                                                                    .product = product,
                                                                    .rnn = rnn,
                                                                    .lstm = lstm,
                                                                    .gru = gru,
                                                                    .gru_reset = gru_reset,
                                                                    .gru_update = gru_update};
