/* Op functions of the family signal, made from include/nd4c/op_table/signal.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_SIGNAL_H
#define ND4C_OPS_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* convolve: y[i] = sum over j of a[j] b[i - j].
 * In: a (int, uint, float, complex), b.
 * Attributes: mode (ND4C_CONVOLVE_MODE_FULL).
 * Out: y: a vector in the dtype that the inputs promote to: m + n - 1 elements for FULL, the longer of m and n for
 *     SAME, the difference of the two and 1 for VALID; a has m and b n elements.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_convolve(const nd4c_array *a, const nd4c_array *b, nd4c_convolve_mode mode, nd4c_array **y);
ND4C_API nd4c_status nd4c_convolve_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                      nd4c_convolve_mode mode, nd4c_array **y);

/* correlate: y[i] = sum over j of a[j + i] conj(b[j]), NumPy's order.
 * In: a (int, uint, float, complex), b.
 * Attributes: mode (ND4C_CONVOLVE_MODE_VALID).
 * Out: y: a vector in the dtype that the inputs promote to: m + n - 1 elements for FULL, the longer of m and n for
 *     SAME, the difference of the two and 1 for VALID; a has m and b n elements.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_correlate(const nd4c_array *a, const nd4c_array *b, nd4c_convolve_mode mode, nd4c_array **y);
ND4C_API nd4c_status nd4c_correlate_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                       nd4c_convolve_mode mode, nd4c_array **y);

/* view_as_complex: complex numbers whose parts are the pairs on the last axis (of length 2); a copy.
 * In: x (float).
 * Out: y: x without its last axis of length 2, complex64 for floats of up to 32 bits, else complex128.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_view_as_complex(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_view_as_complex_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* view_as_real: parts of x's complex numbers on a new last axis of length 2; a copy; real numbers have the imaginary
 * part 0.
 * In: x (float, complex).
 * Out: y: x with a new last axis of length 2, in x's dtype, or its real dtype if x is complex.
 * Statuses: SHAPE. */
ND4C_API nd4c_status nd4c_view_as_real(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_view_as_real_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* fft: Fourier transform along an axis.
 * In: x (int, uint, float, complex).
 * Attributes: n (-1), axis (-1), norm (ND4C_FFT_NORM_BACKWARD).
 * Out: y: x with n on the axis (-1: unchanged), complex64 for floats of up to 32 bits and complex64, else complex128.
 * Statuses: ARGUMENT, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_fft(const nd4c_array *x, int64_t n, int64_t axis, nd4c_fft_norm norm, nd4c_array **y);
ND4C_API nd4c_status nd4c_fft_on(nd4c_context *context, const nd4c_array *x, int64_t n, int64_t axis,
                                 nd4c_fft_norm norm, nd4c_array **y);

/* ifft: inverse Fourier transform along an axis.
 * In: x (int, uint, float, complex).
 * Attributes: n (-1), axis (-1), norm (ND4C_FFT_NORM_BACKWARD).
 * Out: y: x with n on the axis (-1: unchanged), complex64 for floats of up to 32 bits and complex64, else complex128.
 * Statuses: ARGUMENT, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_ifft(const nd4c_array *x, int64_t n, int64_t axis, nd4c_fft_norm norm, nd4c_array **y);
ND4C_API nd4c_status nd4c_ifft_on(nd4c_context *context, const nd4c_array *x, int64_t n, int64_t axis,
                                  nd4c_fft_norm norm, nd4c_array **y);

/* fftn: Fourier transform over axes (none: all, or as many of the last axes as s has lengths).
 * In: x (int, uint, float, complex).
 * Attributes: s (NULL, 0), axes (NULL, 0), norm (ND4C_FFT_NORM_BACKWARD).
 * Out: y: x with s on the axes (left out: unchanged), complex64 for floats of up to 32 bits and complex64, else
 *     complex128.
 * Statuses: ARGUMENT, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_fftn(const nd4c_array *x, const int64_t *s, int32_t s_count, const int64_t *axes,
                               int32_t axes_count, nd4c_fft_norm norm, nd4c_array **y);
ND4C_API nd4c_status nd4c_fftn_on(nd4c_context *context, const nd4c_array *x, const int64_t *s, int32_t s_count,
                                  const int64_t *axes, int32_t axes_count, nd4c_fft_norm norm, nd4c_array **y);

/* ifftn: inverse Fourier transform over axes.
 * In: x (int, uint, float, complex).
 * Attributes: s (NULL, 0), axes (NULL, 0), norm (ND4C_FFT_NORM_BACKWARD).
 * Out: y: x with s on the axes (left out: unchanged), complex64 for floats of up to 32 bits and complex64, else
 *     complex128.
 * Statuses: ARGUMENT, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_ifftn(const nd4c_array *x, const int64_t *s, int32_t s_count, const int64_t *axes,
                                int32_t axes_count, nd4c_fft_norm norm, nd4c_array **y);
ND4C_API nd4c_status nd4c_ifftn_on(nd4c_context *context, const nd4c_array *x, const int64_t *s, int32_t s_count,
                                   const int64_t *axes, int32_t axes_count, nd4c_fft_norm norm, nd4c_array **y);

/* rfft: first n / 2 + 1 points of the transform of a real array.
 * In: x (int, uint, float).
 * Attributes: n (-1), axis (-1), norm (ND4C_FFT_NORM_BACKWARD).
 * Out: y: x with n / 2 + 1 on the axis (n -1: x's length), complex64 for floats of up to 32 bits, else complex128.
 * Statuses: ARGUMENT, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_rfft(const nd4c_array *x, int64_t n, int64_t axis, nd4c_fft_norm norm, nd4c_array **y);
ND4C_API nd4c_status nd4c_rfft_on(nd4c_context *context, const nd4c_array *x, int64_t n, int64_t axis,
                                  nd4c_fft_norm norm, nd4c_array **y);

/* irfft: real array of n points (-1: 2 (m - 1)) whose transform begins with the m points of x; ignores parts that
 * would make the result complex.
 * In: x (int, uint, float, complex).
 * Attributes: n (-1), axis (-1), norm (ND4C_FFT_NORM_BACKWARD).
 * Out: y: x with n on the axis (-1: 2 (length - 1)), float32 for floats of up to 32 bits and complex64, else float64.
 * Statuses: ARGUMENT, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_irfft(const nd4c_array *x, int64_t n, int64_t axis, nd4c_fft_norm norm, nd4c_array **y);
ND4C_API nd4c_status nd4c_irfft_on(nd4c_context *context, const nd4c_array *x, int64_t n, int64_t axis,
                                   nd4c_fft_norm norm, nd4c_array **y);

/* rfftn: transform of a real array over axes, the last one as rfft.
 * In: x (int, uint, float).
 * Attributes: s (NULL, 0), axes (NULL, 0), norm (ND4C_FFT_NORM_BACKWARD).
 * Out: y: x with s on the axes (left out: unchanged), the last axis then of length / 2 + 1, complex64 for floats of
 *     up to 32 bits, else complex128.
 * Statuses: ARGUMENT, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_rfftn(const nd4c_array *x, const int64_t *s, int32_t s_count, const int64_t *axes,
                                int32_t axes_count, nd4c_fft_norm norm, nd4c_array **y);
ND4C_API nd4c_status nd4c_rfftn_on(nd4c_context *context, const nd4c_array *x, const int64_t *s, int32_t s_count,
                                   const int64_t *axes, int32_t axes_count, nd4c_fft_norm norm, nd4c_array **y);

/* irfftn: inverse of rfftn, the last axis as irfft.
 * In: x (int, uint, float, complex).
 * Attributes: s (NULL, 0), axes (NULL, 0), norm (ND4C_FFT_NORM_BACKWARD).
 * Out: y: x with s on the axes (left out: unchanged, on the last one 2 (length - 1)), float32 for floats of up to 32
 *     bits and complex64, else float64.
 * Statuses: ARGUMENT, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_irfftn(const nd4c_array *x, const int64_t *s, int32_t s_count, const int64_t *axes,
                                 int32_t axes_count, nd4c_fft_norm norm, nd4c_array **y);
ND4C_API nd4c_status nd4c_irfftn_on(nd4c_context *context, const nd4c_array *x, const int64_t *s, int32_t s_count,
                                    const int64_t *axes, int32_t axes_count, nd4c_fft_norm norm, nd4c_array **y);

/* hfft: real transform of a Hermitian array, of which x is the first half; n as in irfft.
 * In: x (int, uint, float, complex).
 * Attributes: n (-1), axis (-1), norm (ND4C_FFT_NORM_BACKWARD).
 * Out: y: x with n on the axis (-1: 2 (length - 1)), float32 for floats of up to 32 bits and complex64, else float64.
 * Statuses: ARGUMENT, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_hfft(const nd4c_array *x, int64_t n, int64_t axis, nd4c_fft_norm norm, nd4c_array **y);
ND4C_API nd4c_status nd4c_hfft_on(nd4c_context *context, const nd4c_array *x, int64_t n, int64_t axis,
                                  nd4c_fft_norm norm, nd4c_array **y);

/* ihfft: inverse of hfft: the first half of a Hermitian array.
 * In: x (int, uint, float).
 * Attributes: n (-1), axis (-1), norm (ND4C_FFT_NORM_BACKWARD).
 * Out: y: x with n / 2 + 1 on the axis (n -1: x's length), complex64 for floats of up to 32 bits, else complex128.
 * Statuses: ARGUMENT, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_ihfft(const nd4c_array *x, int64_t n, int64_t axis, nd4c_fft_norm norm, nd4c_array **y);
ND4C_API nd4c_status nd4c_ihfft_on(nd4c_context *context, const nd4c_array *x, int64_t n, int64_t axis,
                                   nd4c_fft_norm norm, nd4c_array **y);

/* fftfreq: frequencies of a transform's n points, samples d apart; negative ones last.
 * Attributes: n (1), d (1), dtype (ND4C_FLOAT64).
 * Out: y: a vector of n elements, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE. */
ND4C_API nd4c_status nd4c_fftfreq(int64_t n, double d, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_fftfreq_on(nd4c_context *context, int64_t n, double d, nd4c_dtype dtype, nd4c_array **y);

/* rfftfreq: frequencies of the n / 2 + 1 points of rfft, samples d apart.
 * Attributes: n (1), d (1), dtype (ND4C_FLOAT64).
 * Out: y: a vector of n / 2 + 1 elements, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE. */
ND4C_API nd4c_status nd4c_rfftfreq(int64_t n, double d, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_rfftfreq_on(nd4c_context *context, int64_t n, double d, nd4c_dtype dtype, nd4c_array **y);

/* fftshift: x with the second half of each axis (none: all) first: frequency 0 comes to the middle.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axes (NULL, 0).
 * Out: y: the shape and dtype of x.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_fftshift(const nd4c_array *x, const int64_t *axes, int32_t axes_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_fftshift_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                      int32_t axes_count, nd4c_array **y);

/* ifftshift: inverse of fftshift.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axes (NULL, 0).
 * Out: y: the shape and dtype of x.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_ifftshift(const nd4c_array *x, const int64_t *axes, int32_t axes_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_ifftshift_on(nd4c_context *context, const nd4c_array *x, const int64_t *axes,
                                       int32_t axes_count, nd4c_array **y);

/* stft: transforms y [..., frames, points] of frames of x [..., time], each multiplied by the window; frames begin
 * frame_step apart and lie entirely inside x; frame_length -1: the window's length; onesided: only the first half of
 * the points.
 * In: x (float, complex), window or NULL.
 * Attributes: frame_length (-1), frame_step (1), onesided (true).
 * Out: y: x's axes but the last, frames, points, for x [..., t]: 1 + (t - frame_length) / frame_step frames of
 *     frame_length points (onesided: frame_length / 2 + 1). complex64 for floats of up to 32 bits and complex64, else
 *     complex128.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_stft(const nd4c_array *x, const nd4c_array *window, int64_t frame_length, int64_t frame_step,
                               bool onesided, nd4c_array **y);
ND4C_API nd4c_status nd4c_stft_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *window,
                                  int64_t frame_length, int64_t frame_step, bool onesided, nd4c_array **y);

/* istft: x [..., time] from stft's y: each frame's inverse transform times the window, overlapped and added, divided
 * by the sum of the squared windows (0 where that sum is at most 1e-10); onesided: the result is real.
 * In: x (float, complex), window or NULL.
 * Attributes: frame_length (-1), frame_step (1), onesided (true).
 * Out: y: x's axes but the last two, then frame_length + (frames - 1) * frame_step elements, for x [..., frames,
 *     points]. In x's dtype or, if onesided, the real dtype of its precision.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_istft(const nd4c_array *x, const nd4c_array *window, int64_t frame_length, int64_t frame_step,
                                bool onesided, nd4c_array **y);
ND4C_API nd4c_status nd4c_istft_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *window,
                                   int64_t frame_length, int64_t frame_step, bool onesided, nd4c_array **y);

/* hann_window: y[i] = 0.5 - 0.5 cos(2 pi i / n), n = size, or size - 1 if not periodic.
 * Attributes: size (1), periodic (true), dtype (ND4C_FLOAT32).
 * Out: y: a vector of size elements, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE. */
ND4C_API nd4c_status nd4c_hann_window(int64_t size, bool periodic, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_hann_window_on(nd4c_context *context, int64_t size, bool periodic, nd4c_dtype dtype,
                                         nd4c_array **y);

/* hamming_window: y[i] = alpha - (1 - alpha) cos(2 pi i / n), n as in hann_window (ONNX: alpha 25 / 46).
 * Attributes: size (1), periodic (true), dtype (ND4C_FLOAT32), alpha (0.54).
 * Out: y: a vector of size elements, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE. */
ND4C_API nd4c_status nd4c_hamming_window(int64_t size, bool periodic, nd4c_dtype dtype, double alpha, nd4c_array **y);
ND4C_API nd4c_status nd4c_hamming_window_on(nd4c_context *context, int64_t size, bool periodic, nd4c_dtype dtype,
                                            double alpha, nd4c_array **y);

/* blackman_window: y[i] = 0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n), n as in hann_window.
 * Attributes: size (1), periodic (true), dtype (ND4C_FLOAT32).
 * Out: y: a vector of size elements, in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE. */
ND4C_API nd4c_status nd4c_blackman_window(int64_t size, bool periodic, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_blackman_window_on(nd4c_context *context, int64_t size, bool periodic, nd4c_dtype dtype,
                                             nd4c_array **y);

/* mel_weight_matrix: y [dft_length / 2 + 1, mel_bins]: triangular filters whose edges are equally spaced on the mel
 * scale from lower to upper Hz.
 * Attributes: mel_bins (8), dft_length (16), sample_rate (8192), lower (0), upper (4096), dtype (ND4C_FLOAT32).
 * Out: y: [dft_length / 2 + 1, mel_bins], in the attribute dtype.
 * Statuses: ARGUMENT, DTYPE. */
ND4C_API nd4c_status nd4c_mel_weight_matrix(int64_t mel_bins, int64_t dft_length, double sample_rate, double lower,
                                            double upper, nd4c_dtype dtype, nd4c_array **y);
ND4C_API nd4c_status nd4c_mel_weight_matrix_on(nd4c_context *context, int64_t mel_bins, int64_t dft_length,
                                               double sample_rate, double lower, double upper, nd4c_dtype dtype,
                                               nd4c_array **y);

ND4C_EXTERN_C_END
#endif
