/* What oneDNN contributes to the CPU's devices: convolutions and products. device/registry/builtins.c lists the entry
 * function that this file defines. */
#include "backends/cpu/onednn/onednn.h"
#include "backends/cpu/support/library.h"

ND4C_CPU_LIBRARY_PROVIDER(onednn, 300, nd4c_cpu_onednn_window_conv_kernels, nd4c_cpu_onednn_quantization_int8_kernels,
                          nd4c_cpu_onednn_quantization_conv_kernels, nd4c_cpu_onednn_quantization_matmul_kernels,
                          nd4c_cpu_onednn_contraction_kernels, nd4c_cpu_onednn_contraction_sgemm_kernels,
                          nd4c_cpu_onednn_widened_kernels)
