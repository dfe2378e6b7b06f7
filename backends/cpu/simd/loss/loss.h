/* What losses share: how they become a result. */
#ifndef ND4C_BACKENDS_CPU_SIMD_LOSS_LOSS_H
#define ND4C_BACKENDS_CPU_SIMD_LOSS_LOSS_H

#include "backends/cpu/simd/simd.h"

/* Writes losses, which are not empty, to output 0: each times its weight (NULL: 1), or their sum or mean, by the value
 * of the attribute `reduction`. losses: of double, in the shape of the unreduced result; weights: of a float dtype, are
 * broadcast to that. */
void nd4c_simd_store_losses(const nd4c_call *call, const nd4c_tensor *losses, const nd4c_tensor *weights,
                            int64_t reduction);

#endif
