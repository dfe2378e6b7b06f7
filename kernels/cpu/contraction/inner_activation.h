/* Activations that loops apply to sums which are still in registers: cheap ones. Others follow in a pass of their own.
 * gemm_vector.h computes them (ACTIVATED); the tables of products and convolutions take them; simd.h says which one is
 * an op's (nd4c_cpu_inner_activation). */
#ifndef ND4C_KERNELS_CPU_CONTRACTION_INNER_ACTIVATION_H
#define ND4C_KERNELS_CPU_CONTRACTION_INNER_ACTIVATION_H

typedef enum nd4c_inner_activation {
  ND4C_INNER_NONE,
  ND4C_INNER_RELU,      /* 0 instead of negative sums; NaN stays */
  ND4C_INNER_RELU6,     /* the same, and 6 instead of larger ones */
  ND4C_INNER_HARD_SWISH /* -0 up to -3, x from 3 on, x * (x + 3) / 6 between them */
} nd4c_inner_activation;

#endif
