/* Fourier transforms of any length, windows, convolution of sequences. Everything is computed in double.
 * backends/cpu/support/signal.h and the family signal of engine reference call these. */
#ifndef ND4C_KERNELS_REFERENCE_SIGNAL_SIGNAL_H
#define ND4C_KERNELS_REFERENCE_SIGNAL_SIGNAL_H

#include "kernels/creation.h"
#include "kernels/reference/support/tensor.h"

/* A length's roots of unity and factors. Lengths whose prime factors are small go by mixed radix (Stockham, so in
 * order), others by Bluestein's convolution of a length that is smooth. Errors grow like the logarithm of the length.
 */
typedef struct nd4c_fft_plan {
  int64_t n;
  int32_t factor_count;
  int64_t factors[64];
  double complex *roots; /* exp(-2 pi i k / n) */
  /* Bluestein: chirp[k] = exp(-pi i k^2 / n), and the transform of its conjugate, of the inner length. */
  struct nd4c_fft_plan *inner;
  double complex *chirp, *spectrum;
  /* Of a plan for real lines of 2 n numbers, which are transformed as n complex ones: exp(-pi i k / n). */
  double complex *unpacking;
} nd4c_fft_plan;

/* exp(-2 pi i k / n), 0 <= k < n. */
double complex nd4c_fft_root(int64_t k, int64_t n);

/* Bytes of a plan for lengths of at least 1; -1 if they do not fit into 64 bits. */
int64_t nd4c_fft_plan_bytes(int64_t n);
/* Makes a plan in memory of that many bytes, zeroed and aligned for double complex; work: nd4c_fft_work of one lane. */
nd4c_fft_plan *nd4c_fft_plan_make(int64_t n, void *memory);
/* The same for real lines of an even length: the plan's n is half of it. */
int64_t nd4c_fft_real_plan_bytes(int64_t length);
nd4c_fft_plan *nd4c_fft_real_plan_make(int64_t length, void *memory);
/* Numbers of work that a run with so many lanes needs; the making of a plan needs those of one. */
int64_t nd4c_fft_work(int64_t n, int32_t lanes);
/* Must be called once before the first run: what needs work to be made. */
void nd4c_fft_plan_finish(nd4c_fft_plan *plan, double complex *work);
/* x[k * lanes + l] becomes sum over j of x[j * lanes + l] exp(-2 pi i j k / n), for all lanes l. */
void nd4c_fft_run(const nd4c_fft_plan *plan, int32_t lanes, double complex *x, double complex *work);

/* One pass: transforms along an axis. With a plan for real lines, those of `from` are real, or, hermitian, those of
 * `to` are, and the others hold half of their points and one. Lines are read from `from`, extended by zeros or cut to n
 * (or, for real results, completed by their conjugates), transformed, scaled and written to `to`. Both have the same
 * axes. */
typedef struct nd4c_fft_pass {
  nd4c_ref_tensor from, to;
  int32_t axis;
  const nd4c_fft_plan *plan;
  bool inverse, conjugate_in, conjugate_out;
  bool hermitian; /* lines hold the first n / 2 + 1 of n */
  double scale;
  const double *window; /* what the points read are multiplied with; NULL: nothing */
} nd4c_fft_pass;
/* Lines [begin, end) in C order of to's other axes, `lanes` at a time. memory: lanes * n numbers and the plan's work.
 */
void nd4c_fft_lines(const nd4c_fft_pass *pass, int64_t begin, int64_t end, int32_t lanes, double complex *memory);

void nd4c_ref_cosine_window(const nd4c_ref_tensor *y, const nd4c_cosines *window);

/* y[i] = i / (n d) for i below (n + 1) / 2, (i - n) / (n d) from there on; real: i / (n d). */
void nd4c_ref_frequencies(const nd4c_ref_tensor *y, int64_t n, double d, bool real);

/* y [time]: frames [count, length] (dense), each times the window (NULL: 1) and `step` further, added and divided by
 * the sum of the squared windows; 0 where that is at most 1e-10. */
void nd4c_ref_overlap_add(const double complex *frames, int64_t count, int64_t length, int64_t step,
                          const double *window, const nd4c_ref_tensor *y);

/* Triangular filters on the mel scale, y [bins, filters]. */
typedef struct nd4c_ref_mel {
  int64_t dft_length;
  double sample_rate, lower, upper; /* Hz */
} nd4c_ref_mel;
void nd4c_ref_mel_weights(const nd4c_ref_mel *mel, const nd4c_ref_tensor *y);

/* Elements [begin, end) of y[i] = sum over j of a[i + shift - j] b[j]; a [m] and b [n] are dense, of doubles, double
 * complex or 64-bit integers as y's kind is. */
typedef struct nd4c_ref_convolve_args {
  nd4c_dtype_kind kind;
  const void *a, *b;
  int64_t m, n;
  nd4c_ref_tensor y;
  int64_t shift;
} nd4c_ref_convolve_args;
void nd4c_ref_convolve(const nd4c_ref_convolve_args *args, int64_t begin, int64_t end);

#endif
