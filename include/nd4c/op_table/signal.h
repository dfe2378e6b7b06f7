/* Rows of the op table: Fourier transforms, windows, convolution of sequences. op_table.h says how to read them.
 *
 * Transforms are computed in double; float32 and smaller give complex64, float64 and integers complex128. A length
 * of -1 is that of x; a longer one appends zeros, a shorter one cuts x. */
#ifndef ND4C_OP_TABLE_SIGNAL_H
#define ND4C_OP_TABLE_SIGNAL_H

/* The transform that is divided by the number of points. BACKWARD: the inverse transform. FORWARD: the forward
 * transform. ORTHO: both, by the square root of that number. */
#define ND4C_FFT_NORM_TABLE(X) \
  X(BACKWARD, 0, "backward")   \
  X(ORTHO, 1, "ortho")         \
  X(FORWARD, 2, "forward")

/* Which part of a convolution is given: all of it, the middle part as long as the longer input, or the part where the
 * inputs overlap completely. */
#define ND4C_CONVOLVE_MODE_TABLE(X) \
  X(FULL, 0, "full")                \
  X(SAME, 1, "same")                \
  X(VALID, 2, "valid")

#define ND4C_SIG_FFT(A, op) \
  A(op, IN, x, 0)           \
  A(op, INT, n, -1) A(op, INT, axis, -1) A(op, WORD, norm, fft_norm, ND4C_FFT_NORM_BACKWARD) A(op, OUT, y, 0)
#define ND4C_SIG_FFTN(A, op) \
  A(op, IN, x, 0)            \
  A(op, INTS, s, 0) A(op, INTS, axes, 0) A(op, WORD, norm, fft_norm, ND4C_FFT_NORM_BACKWARD) A(op, OUT, y, 0)
#define ND4C_SIG_FREQUENCIES(A, op) \
  A(op, INT, n, 1) A(op, FLOAT, d, 1) A(op, DTYPE, dtype, ND4C_FLOAT64) A(op, OUT, y, 0)
#define ND4C_SIG_STFT(A, op) \
  A(op, IN, x, 0)            \
  A(op, OPT, window, 0) A(op, INT, frame_length, -1) A(op, INT, frame_step, 1) A(op, BOOL, onesided, 1) A(op, OUT, y, 0)
#define ND4C_SIG_ISTFT(A, op) \
  A(op, IN, x, 0)             \
  A(op, OPT, window, 0) A(op, INT, frame_length, -1) A(op, INT, frame_step, 1) A(op, BOOL, onesided, 1) A(op, OUT, y, 0)
#define ND4C_SIG_COSINE_WINDOW(A, op) \
  A(op, INT, size, 1) A(op, BOOL, periodic, 1) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, OUT, y, 0)
#define ND4C_SIG_HAMMING(A, op) \
  A(op, INT, size, 1)           \
  A(op, BOOL, periodic, 1) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, FLOAT, alpha, 0.54) A(op, OUT, y, 0)
#define ND4C_SIG_MEL(A, op)       \
  A(op, INT, mel_bins, 8)         \
  A(op, INT, dft_length, 16)      \
  A(op, FLOAT, sample_rate, 8192) \
  A(op, FLOAT, lower, 0) A(op, FLOAT, upper, 4096) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, OUT, y, 0)
#define ND4C_SIG_CONVOLVE(A, op) \
  A(op, IN, a, 0) A(op, IN, b, 0) A(op, WORD, mode, convolve_mode, ND4C_CONVOLVE_MODE_FULL) A(op, OUT, y, 0)
#define ND4C_SIG_CORRELATE(A, op) \
  A(op, IN, a, 0) A(op, IN, b, 0) A(op, WORD, mode, convolve_mode, ND4C_CONVOLVE_MODE_VALID) A(op, OUT, y, 0)

#define ND4C_OPS_SIGNAL(OP)                                                                                          \
  OP(537, 1, convolve, SIGNAL, ND4C_SIG_CONVOLVE, convolve, NUMERIC, "y[i] = sum over j of a[j] b[i - j]",           \
     "convolve|||")                                                                                                  \
  OP(538, 1, correlate, SIGNAL, ND4C_SIG_CORRELATE, convolve, NUMERIC,                                               \
     "y[i] = sum over j of a[j + i] conj(b[j]), NumPy's order", "correlate|||")                                      \
  OP(539, 1, view_as_complex, SIGNAL, ND4C_SIG_UNARY, view_as_complex, REAL_FLOATING,                                \
     "complex numbers whose parts are the pairs on the last axis (of length 2); a copy", "|view_as_complex||")       \
  OP(540, 1, view_as_real, SIGNAL, ND4C_SIG_UNARY, view_as_real, FLOATING,                                           \
     "parts of x's complex numbers on a new last axis of length 2; a copy; real numbers have the imaginary part 0",  \
     "|view_as_real||")                                                                                              \
  OP(550, 1, fft, SIGNAL, ND4C_SIG_FFT, fft, NUMERIC, "Fourier transform along an axis", "fft.fft|fft.fft|DFT|fft")  \
  OP(551, 1, ifft, SIGNAL, ND4C_SIG_FFT, fft, NUMERIC, "inverse Fourier transform along an axis",                    \
     "fft.ifft|fft.ifft||ifft")                                                                                      \
  OP(552, 1, fftn, SIGNAL, ND4C_SIG_FFTN, fftn, NUMERIC,                                                             \
     "Fourier transform over axes (none: all, or as many of the last axes as s has lengths)", "fft.fftn|fft.fftn||") \
  OP(553, 1, ifftn, SIGNAL, ND4C_SIG_FFTN, fftn, NUMERIC, "inverse Fourier transform over axes",                     \
     "fft.ifftn|fft.ifftn||")                                                                                        \
  OP(554, 1, rfft, SIGNAL, ND4C_SIG_FFT, rfft, REAL, "first n / 2 + 1 points of the transform of a real array",      \
     "fft.rfft|fft.rfft||")                                                                                          \
  OP(555, 1, irfft, SIGNAL, ND4C_SIG_FFT, irfft, NUMERIC,                                                            \
     "real array of n points (-1: 2 (m - 1)) whose transform begins with the m points of x; ignores parts that "     \
     "would make the result complex",                                                                                \
     "fft.irfft|fft.irfft||")                                                                                        \
  OP(556, 1, rfftn, SIGNAL, ND4C_SIG_FFTN, rfftn, REAL, "transform of a real array over axes, the last one as rfft", \
     "fft.rfftn|fft.rfftn||")                                                                                        \
  OP(557, 1, irfftn, SIGNAL, ND4C_SIG_FFTN, irfftn, NUMERIC, "inverse of rfftn, the last axis as irfft",             \
     "fft.irfftn|fft.irfftn||")                                                                                      \
  OP(558, 1, hfft, SIGNAL, ND4C_SIG_FFT, irfft, NUMERIC,                                                             \
     "real transform of a Hermitian array, of which x is the first half; n as in irfft", "fft.hfft|fft.hfft||")      \
  OP(559, 1, ihfft, SIGNAL, ND4C_SIG_FFT, rfft, REAL, "inverse of hfft: the first half of a Hermitian array",        \
     "fft.ihfft|fft.ihfft||")                                                                                        \
  OP(560, 1, fftfreq, SIGNAL, ND4C_SIG_FREQUENCIES, fftfreq, REAL_FLOATING,                                          \
     "frequencies of a transform's n points, samples d apart; negative ones last", "fft.fftfreq|fft.fftfreq||")      \
  OP(561, 1, rfftfreq, SIGNAL, ND4C_SIG_FREQUENCIES, rfftfreq, REAL_FLOATING,                                        \
     "frequencies of the n / 2 + 1 points of rfft, samples d apart", "fft.rfftfreq|fft.rfftfreq||")                  \
  OP(562, 1, fftshift, SIGNAL, ND4C_SIG_AXES, fftshift, NUMBER_OR_BOOL,                                              \
     "x with the second half of each axis (none: all) first: frequency 0 comes to the middle",                       \
     "fft.fftshift|fft.fftshift||")                                                                                  \
  OP(563, 1, ifftshift, SIGNAL, ND4C_SIG_AXES, fftshift, NUMBER_OR_BOOL, "inverse of fftshift",                      \
     "fft.ifftshift|fft.ifftshift||")                                                                                \
  OP(564, 1, stft, SIGNAL, ND4C_SIG_STFT, stft, FLOATING,                                                            \
     "transforms y [..., frames, points] of frames of x [..., time], each multiplied by the window; frames begin "   \
     "frame_step apart and lie entirely inside x; frame_length -1: the window's length; onesided: only the first "   \
     "half of the points",                                                                                           \
     "|stft|STFT|")                                                                                                  \
  OP(565, 1, istft, SIGNAL, ND4C_SIG_ISTFT, istft, FLOATING,                                                         \
     "x [..., time] from stft's y: each frame's inverse transform times the window, overlapped and added, divided "  \
     "by the sum of the squared windows (0 where that sum is at most 1e-10); onesided: the result is real",          \
     "|istft||")                                                                                                     \
  OP(566, 1, hann_window, SIGNAL, ND4C_SIG_COSINE_WINDOW, cosine_window, REAL_FLOATING,                              \
     "y[i] = 0.5 - 0.5 cos(2 pi i / n), n = size, or size - 1 if not periodic", "hanning|hann_window|HannWindow|")   \
  OP(567, 1, hamming_window, SIGNAL, ND4C_SIG_HAMMING, cosine_window, REAL_FLOATING,                                 \
     "y[i] = alpha - (1 - alpha) cos(2 pi i / n), n as in hann_window (ONNX: alpha 25 / 46)",                        \
     "hamming|hamming_window|HammingWindow|")                                                                        \
  OP(568, 1, blackman_window, SIGNAL, ND4C_SIG_COSINE_WINDOW, cosine_window, REAL_FLOATING,                          \
     "y[i] = 0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n), n as in hann_window",                                \
     "blackman|blackman_window|BlackmanWindow|")                                                                     \
  OP(569, 1, mel_weight_matrix, SIGNAL, ND4C_SIG_MEL, mel_weight_matrix, REAL,                                       \
     "y [dft_length / 2 + 1, mel_bins]: triangular filters whose edges are equally spaced on the mel scale from "    \
     "lower to upper Hz",                                                                                            \
     "||MelWeightMatrix|")

#endif
