/* Recurrent layers of f32: products of some rows with packed weights, and the arithmetic of the gates. One block of
 * `lanes` hidden units is computed at a time, all its gates side by side: [gate][lane]. simd/recurrent.c calls
 * these. */
#ifndef ND4C_KERNELS_CPU_RECURRENT_RECURRENT_H
#define ND4C_KERNELS_CPU_RECURRENT_RECURRENT_H

#include <stdint.h>

/* A gate's activation, counted as by ND4C_RECURRENT_ACTIVATION_TABLE of the op table. */
typedef struct nd4c_recurrent_function {
  int64_t kind;
  double alpha, beta;
  float clip; /* its input is bounded to -clip .. clip; 0: not */
} nd4c_recurrent_function;

typedef struct nd4c_recurrent_table {
  int64_t lanes; /* at most ND4C_RECURRENT_LANES */
  /* Weights of one block: `gates` rows of w for each of `units` units, the gates gate_stride apart, to gates * lanes *
   * k numbers; lanes beyond `units` become 0. */
  void (*pack)(int64_t gates, int64_t units, int64_t k, const float *w, int64_t gate_stride, int64_t row_stride,
               int64_t column_stride, float *to);
  /* to[row] = start[row] + a[row] * packed, gates * lanes numbers a row. gates: 1 to 4. */
  void (*product)(int64_t rows, int64_t gates, int64_t k, const float *a, int64_t a_stride, const float *packed,
                  const float *start, int64_t start_stride, float *to, int64_t to_stride);
  /* h = f[0](gate), for `units` of the lanes of `rows` rows. */
  void (*rnn)(int64_t rows, int64_t units, const nd4c_recurrent_function *f, const float *gate, int64_t gate_stride,
              float *h, int64_t h_stride);
  /* Gates i, o, f, c of `rows` rows, gate_stride apart; i, o, f = f[0](gate): c = f c + i f[1](gate), h = o f[2](c); c
   * and h for `units` of the lanes. */
  void (*lstm)(int64_t rows, int64_t units, const nd4c_recurrent_function *f, const float *gates, int64_t gates_stride,
               float *c, int64_t c_stride, float *h, int64_t h_stride);
  /* Gates z, r, and what the state gives to the hidden gate, which x gives `x`; z, r = f[0](gate): h = (1 - z) f[1](x +
   * r state) + z before. */
  void (*gru)(int64_t rows, int64_t units, const nd4c_recurrent_function *f, const float *gates, int64_t gates_stride,
              const float *x, int64_t x_stride, const float *before, int64_t before_stride, float *h, int64_t h_stride);
  /* Gates z, r = f[0](gate): z to `z`, r * before to `reset`. */
  void (*gru_reset)(int64_t rows, int64_t units, const nd4c_recurrent_function *f, const float *gates,
                    int64_t gates_stride, const float *before, int64_t before_stride, float *z, float *reset,
                    int64_t stride);
  /* h = (1 - z) f[1](gate) + z before */
  void (*gru_update)(int64_t rows, int64_t units, const nd4c_recurrent_function *f, const float *gate,
                     int64_t gate_stride, const float *z, int64_t z_stride, const float *before, int64_t before_stride,
                     float *h, int64_t h_stride);
} nd4c_recurrent_table;

enum { ND4C_RECURRENT_LANES = 16, ND4C_RECURRENT_GATES = 4 };

#endif
