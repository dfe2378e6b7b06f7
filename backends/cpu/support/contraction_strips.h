/* The layout in which constant f32 right-hand sides of products are packed: strips of columns, each with all of its
 * rows one after the other. It is what oneDNN wants with AVX-512. Products of 64 to 384 rows
 * (simd/contraction/contraction_packed.c), those of one row (onednn/contraction.c) and oneDNN's primitives read one
 * packed copy. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_CONTRACTION_STRIPS_H
#define ND4C_BACKENDS_CPU_SUPPORT_CONTRACTION_STRIPS_H

#include "backends/cpu/cpu.h"
#include "kernels/cpu/contraction/gemm.h"

/* The strips that oneDNN wants of b [k, n]. Another choice of it costs memory, not results: the copies are then two. */
nd4c_gemm_strips nd4c_cpu_strips_for(int64_t k, int64_t n);

/* The layout of the tensor of b; turned: the tensor is [n, k]. It has an owner, so engines share the packed copy. */
void nd4c_cpu_strips_describe(int64_t k, int64_t n, bool turned, nd4c_gemm_strips strips, nd4c_layout *layout);

/* Which strips a layout has, and whether its tensor is [n, k]; false: it has none. */
bool nd4c_cpu_strips_read(const nd4c_layout *layout, nd4c_gemm_strips *strips, bool *turned);

/* A layout with strips that oneDNN has described becomes equal to the one that is described here, with its owner;
 * others stay as they are. oneDNN fills padding with zeros, as the loops do. */
void nd4c_cpu_strips_share(nd4c_layout *layout);

#endif
