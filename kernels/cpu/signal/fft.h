/* Fourier transforms of several lines side by side. simd/signal_plan.c and signal_fft.c call these.
 *
 * A tile holds as many lines as a vector has lanes: of each point the real parts of all lines, then the imaginary ones.
 * Joined points, as they are read and written, have the two parts of a number side by side. Tiles are aligned to 64
 * bytes. */
#ifndef ND4C_KERNELS_CPU_SIGNAL_FFT_H
#define ND4C_KERNELS_CPU_SIGNAL_FFT_H

#include <stdbool.h>
#include <stdint.h>

enum { ND4C_FFT_STEPS = 40, ND4C_FFT_LANES = 16 /* at most */ };

/* How lengths without prime factors above 5 are transformed. roots: of each step for p below m, what is left, the
 * powers 1 .. radix - 1 of w^p, w = exp(-2 pi i / (radix m)). All numbers here are of the loops' precision. */
typedef struct nd4c_fft_steps {
  int64_t n;
  int32_t count, radix[ND4C_FFT_STEPS];
  const void *roots;
} nd4c_fft_steps;

/* Roots of unity of a length n that is too long for a table: w^k = high[k >> bits] low[k mod 2^bits]. high: doubles. */
typedef struct nd4c_fft_roots {
  int32_t bits;
  const double *high;
  const double *low;
  const void *low_rounded; /* the same in the loops' precision */
} nd4c_fft_roots;

/* One precision. Exchanging real and imaginary parts before and after a transform gives the inverse one. */
typedef struct nd4c_fft_loops {
  int64_t lanes;
  /* Joined points become a tile's, in place; join: back, times a scale, from a tile that may be another. */
  void (*split)(int64_t points, void *tile, bool exchange, bool conjugate);
  void (*join)(int64_t points, const void *tile, double scale, bool exchange, bool conjugate, void *joined);
  /* Transforms tile x with y as room, or the other way round: returns the one that holds the result. */
  void *(*run)(const nd4c_fft_steps *steps, void *x, void *y);
  /* A tile of lines that are n real points as n / 2 pairs: the transform of the pairs becomes that of the points, n / 2
   * + 1 of them. pack: these become what the inverse transform of the pairs takes, exchanged. roots: w^k of length n up
   * to k = n / 4. */
  void (*unpack)(int64_t pairs, const void *roots, void *tile);
  void (*pack)(int64_t pairs, const void *roots, void *tile);
  /* The same for one long line of joined numbers, in places begin .. end - 1 of pairs / 2 + 1 and their mirror images
   * (nothing is exchanged). */
  void (*unpack_line)(int64_t pairs, const nd4c_fft_roots *roots, int64_t begin, int64_t end, bool conjugate, void *x);
  void (*pack_line)(int64_t pairs, const nd4c_fft_roots *roots, int64_t begin, int64_t end, bool conjugate,
                    const void *x, void *y);
  /* Point k of lane l times w^(k (first + l)); lane_roots: w^(k l) of all points as a tile. */
  void (*twist)(int64_t points, const nd4c_fft_roots *roots, int64_t first, const void *lane_roots, void *tile);
} nd4c_fft_loops;

typedef struct nd4c_fft_table {
  nd4c_fft_loops of[2]; /* [1]: single precision */
} nd4c_fft_table;

#endif
