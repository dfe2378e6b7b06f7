/* Fourier transforms along axes as passes over dense arrays between x and y, for the reference, engine simd and FFTW.
 */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_SIGNAL_H
#define ND4C_BACKENDS_CPU_SUPPORT_SIGNAL_H

#include "backends/cpu/reference/reference.h"
#include "kernels/reference/signal/signal.h"

/* What a call of the fft family consists of. */
typedef struct nd4c_cpu_transform {
  int32_t count;
  int32_t axes[ND4C_CPU_MAX_RANK]; /* in the order of the passes */
  int64_t lengths[ND4C_CPU_MAX_RANK];
  bool inverse, real_in, real_out, conjugate;
  bool scales_inverse; /* norm "backward" divides */
  double scale;
} nd4c_cpu_transform;
nd4c_cpu_transform nd4c_cpu_transform_read(const nd4c_call *call);

/* Whether the transform is so small that the reference, which computes in double, is about as fast. People compare the
 * zeros of such small signals with 0. */
bool nd4c_cpu_transform_is_small(const nd4c_cpu_transform *t, int64_t results);

static inline bool nd4c_cpu_is_complex(nd4c_dtype dtype) {
  return dtype == ND4C_COMPLEX64 || dtype == ND4C_COMPLEX128;
}

static inline bool nd4c_cpu_is_single(nd4c_dtype dtype) {
  return dtype == ND4C_COMPLEX64 || dtype == ND4C_FLOAT32;
}

/* Of results in the precision of the operands. */
#define ND4C_CPU_FFT_DTYPES                                      \
  (ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64) | \
   ((ND4C_DTYPE_BIT(ND4C_COMPLEX64) | ND4C_DTYPE_BIT(ND4C_COMPLEX128)) & ND4C_CPU_COMPLEXES))

/* X(op): the family. */
#define ND4C_CPU_FFT_OPS(X) \
  X(fft)                    \
  X(ifft)                   \
  X(fftn)                   \
  X(ifftn)                  \
  X(rfft)                   \
  X(irfft)                  \
  X(rfftn)                  \
  X(irfftn)                 \
  X(hfft)                   \
  X(ihfft)

/* Plan of a length, ready to run; real: of lines that are real before or after, if the length is even. NULL: no memory.
 * To be freed with the host's free. */
nd4c_fft_plan *nd4c_cpu_fft_plan(int64_t length, bool real);

/* All lines of a pass. MEMORY if there is none. */
nd4c_status nd4c_cpu_fft_pass(const nd4c_call *call, const nd4c_fft_pass *pass);

#endif
