/* See recurrent.h. One source for every level. */
#include "kernels/cpu/recurrent.h"

#include <stddef.h>

#include "kernels/cpu/gemm_vector.h"
#include "kernels/cpu/level.h"
#include "kernels/cpu/mathematics.h"

extern const nd4c_recurrent_table ND4C_LEVEL_NAME(nd4c_recurrent_table);

/* Rows of a tile: sums of three vectors a row stay in registers. */
enum { LANES = VECTOR_BYTES / sizeof(float), ROWS = VECTOR_BYTES == 64 ? 8 : 4 };

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif

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

/* One tile: `rows` rows of `vectors` vectors, both known when this is compiled. */
INLINED void tile(int rows, int vectors, int64_t k, const float *a, int64_t a_stride, const float *packed,
                  const float *start, int64_t start_stride, float *to, int64_t to_stride) {
  V32 sum[ROWS][3];
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
    for (int v = 0; v < vectors; v++) {
      sum[r][v] = start != NULL ? LOAD32(start + r * start_stride + v * LANES) : REPEAT32(0);
    }
  }
  for (int64_t i = 0; i < k; i++) {
    V32 b[3];
#pragma GCC unroll 3
    for (int v = 0; v < vectors; v++) {
      b[v] = LOAD32(packed + v * LANES);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
      V32 factor = REPEAT32(a[r * a_stride + i]);
#pragma GCC unroll 3
      for (int v = 0; v < vectors; v++) {
        sum[r][v] = FUSED32(factor, b[v], sum[r][v]);
      }
    }
    packed += vectors * LANES;
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
    for (int v = 0; v < vectors; v++) {
      STORE32(to + r * to_stride + v * LANES, sum[r][v]);
    }
  }
}

/* One row: the sums of four neighbouring terms of k wait for each other less than one sum would. */
INLINED void single(int vectors, int64_t k, const float *a, const float *packed, const float *start, float *to) {
  V32 sum[4][3];
#pragma GCC unroll 4
  for (int p = 0; p < 4; p++) {
#pragma GCC unroll 3
    for (int v = 0; v < vectors; v++) {
      sum[p][v] = p == 0 && start != NULL ? LOAD32(start + v * LANES) : REPEAT32(0);
    }
  }
  int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
#pragma GCC unroll 4
    for (int p = 0; p < 4; p++) {
      V32 factor = REPEAT32(a[i + p]);
#pragma GCC unroll 3
      for (int v = 0; v < vectors; v++) {
        sum[p][v] = FUSED32(factor, LOAD32(packed + (p * vectors + v) * LANES), sum[p][v]);
      }
    }
    packed += 4 * vectors * LANES;
  }
  for (; i < k; i++, packed += vectors * LANES) {
    V32 factor = REPEAT32(a[i]);
#pragma GCC unroll 3
    for (int v = 0; v < vectors; v++) {
      sum[0][v] = FUSED32(factor, LOAD32(packed + v * LANES), sum[0][v]);
    }
  }
#pragma GCC unroll 3
  for (int v = 0; v < vectors; v++) {
    V32 one = REPEAT32(1);
    STORE32(to + v * LANES, FUSED32(one, FUSED32(one, sum[0][v], sum[1][v]), FUSED32(one, sum[2][v], sum[3][v])));
  }
}

/* All rows with `k` terms, whose weights stay in the first cache. */
INLINED void rows_of(int vectors, int64_t rows, int64_t k, const float *a, int64_t a_stride, const float *packed,
                     const float *start, int64_t start_stride, float *to, int64_t to_stride) {
  for (; rows >= ROWS; rows -= ROWS) {
    tile(ROWS, vectors, k, a, a_stride, packed, start, start_stride, to, to_stride);
    a += ROWS * a_stride;
    start = start != NULL ? start + ROWS * start_stride : NULL;
    to += ROWS * to_stride;
  }
  for (; rows >= 2; rows -= 2) {
    tile(2, vectors, k, a, a_stride, packed, start, start_stride, to, to_stride);
    a += 2 * a_stride;
    start = start != NULL ? start + 2 * start_stride : NULL;
    to += 2 * to_stride;
  }
  if (rows > 0) {
    single(vectors, k, a, packed, start, to);
  }
}

/* Bytes of weights at a time, where there are several tiles of rows to multiply with them. */
enum { WEIGHT_BYTES = 24 << 10 };

#define OF_VECTORS(vectors)                                                                                      \
  static void product_##vectors(int64_t rows, int64_t k, const float *a, int64_t a_stride, const float *packed,  \
                                const float *start, int64_t start_stride, float *to, int64_t to_stride) {        \
    int64_t most = rows <= ROWS ? k : WEIGHT_BYTES / (vectors * VECTOR_BYTES);                                   \
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
      for (int64_t first = 0; first < gates; first += 2) {
        product_2(rows, k, a, a_stride, packed + first * LANES * k, start != NULL ? start + first * LANES : NULL,
                  start_stride, to + first * LANES, to_stride);
      }
      break;
  }
}

/* -- gates ------------------------------------------------------------------------------------------------------ */

/* Whole blocks are vectorised with a length known when this is compiled. */
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

static void lstm(int64_t rows, int64_t units, const float *gates, int64_t gates_stride, float *c, int64_t c_stride,
                 float *h, int64_t h_stride) {
  for (int64_t r = 0; r < rows; r++, gates += gates_stride, c += c_stride, h += h_stride) {
    FOR_UNITS(float in = nd4c_sigmoid_float32(gates[l]); float out = nd4c_sigmoid_float32(gates[LANES + l]);
              float forget = nd4c_sigmoid_float32(gates[2 * LANES + l]);
              float state = forget * c[l] + in * nd4c_tanh_float32(gates[3 * LANES + l]); c[l] = state;
              h[l] = out * nd4c_tanh_float32(state);)
  }
}

static void gru(int64_t rows, int64_t units, const float *gates, int64_t gates_stride, const float *x, int64_t x_stride,
                const float *before, int64_t before_stride, float *h, int64_t h_stride) {
  for (int64_t r = 0; r < rows; r++, gates += gates_stride, x += x_stride, before += before_stride, h += h_stride) {
    FOR_UNITS(float z = nd4c_sigmoid_float32(gates[l]); float reset = nd4c_sigmoid_float32(gates[LANES + l]);
              float hidden = nd4c_tanh_float32(x[l] + reset * gates[2 * LANES + l]);
              h[l] = (1 - z) * hidden + z * before[l];)
  }
}

static void gru_reset(int64_t rows, int64_t units, const float *gates, int64_t gates_stride, const float *before,
                      int64_t before_stride, float *z, float *reset, int64_t stride) {
  for (int64_t r = 0; r < rows; r++, gates += gates_stride, before += before_stride, z += stride, reset += stride) {
    FOR_UNITS(z[l] = nd4c_sigmoid_float32(gates[l]); reset[l] = nd4c_sigmoid_float32(gates[LANES + l]) * before[l];)
  }
}

static void gru_update(int64_t rows, int64_t units, const float *gate, int64_t gate_stride, const float *z,
                       int64_t z_stride, const float *before, int64_t before_stride, float *h, int64_t h_stride) {
  for (int64_t r = 0; r < rows; r++, gate += gate_stride, z += z_stride, before += before_stride, h += h_stride) {
    FOR_UNITS(h[l] = (1 - z[l]) * nd4c_tanh_float32(gate[l]) + z[l] * before[l];)
  }
}

const nd4c_recurrent_table ND4C_LEVEL_NAME(nd4c_recurrent_table) = {.lanes = LANES,
                                                                    .pack = pack,
                                                                    .product = product,
                                                                    .lstm = lstm,
                                                                    .gru = gru,
                                                                    .gru_reset = gru_reset,
                                                                    .gru_update = gru_update};
