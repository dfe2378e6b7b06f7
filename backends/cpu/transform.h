/* Fourier transforms along axes as passes over dense arrays between x and y. */
#ifndef ND4C_BACKENDS_CPU_TRANSFORM_H
#define ND4C_BACKENDS_CPU_TRANSFORM_H

#include "backends/cpu/reference.h"
#include "kernels/reference/signal.h"

/* Plan of a length, ready to run; real: of lines that are real before or after, if the length is even. NULL: no memory.
 * To be freed with the host's free. */
nd4c_fft_plan *nd4c_cpu_fft_plan(int64_t length, bool real);

/* All lines of a pass. MEMORY if there is none. */
nd4c_status nd4c_cpu_fft_pass(const nd4c_call *call, const nd4c_fft_pass *pass);

#endif
