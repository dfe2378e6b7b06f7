/* What OpenBLAS contributes to the CPU's devices: products, factorisations, contractions. device/registry/builtins.c
 * lists the entry function that this file defines. */
#include "backends/cpu/openblas/openblas.h"
#include "backends/cpu/support/library.h"

ND4C_CPU_LIBRARY_PROVIDER(openblas, 200, nd4c_cpu_openblas_contraction_kernels, nd4c_cpu_openblas_decomposition_kernels,
                          nd4c_cpu_openblas_contraction_matmul_kernels)
