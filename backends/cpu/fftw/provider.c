/* What FFTW contributes to the CPU's devices: Fourier transforms. device/registry/builtins.c lists the entry function
 * that this file defines. */
#include "backends/cpu/fftw/fftw.h"
#include "backends/cpu/support/library.h"

ND4C_CPU_LIBRARY_PROVIDER(fftw, 150, nd4c_cpu_fftw_signal_kernels)
