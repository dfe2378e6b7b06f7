/* What the CPU backend itself brings: the kernel families of engines simd and reference. Those of the libraries stand
 * in their folders. */
#ifndef ND4C_BACKENDS_CPU_FAMILIES_H
#define ND4C_BACKENDS_CPU_FAMILIES_H

/* X(family): a file defines nd4c_cpu_<family>_kernels, an array of pointers to kernels that ends with NULL. */
#define ND4C_CPU_FAMILIES(X) \
  X(simd_elementwise)        \
  X(simd_reduction)          \
  X(simd_statistics)         \
  X(simd_scan)               \
  X(simd_rearrangement)      \
  X(simd_indexing)           \
  X(simd_positions)          \
  X(simd_masks)              \
  X(simd_arrangement)        \
  X(simd_repeat)             \
  X(simd_nonzero)            \
  X(reference_contraction)   \
  X(reference_decomposition) \
  X(reference_elementwise)   \
  X(reference_image)         \
  X(reference_learning)      \
  X(reference_mathematics)   \
  X(reference_reduction)     \
  X(reference_rearrangement) \
  X(reference_creation)      \
  X(reference_arrangement)   \
  X(reference_indexing)      \
  X(reference_index_parts)   \
  X(simd_bytes)              \
  X(simd_conv)               \
  X(simd_depthwise)          \
  X(simd_norm)               \
  X(simd_pool)               \
  X(simd_narrow_bytes)       \
  X(simd_narrow_product)     \
  X(simd_product)            \
  X(simd_recurrent)          \
  X(reference_linalg)        \
  X(reference_blocks)        \
  X(reference_nn)            \
  X(reference_fft)           \
  X(reference_signal)        \
  X(reference_sorting)       \
  X(simd_sorting)            \
  X(simd_top)                \
  X(simd_unique)             \
  X(simd_median)             \
  X(reference_histogram)     \
  X(simd_counts)             \
  X(simd_fft)                \
  X(simd_search)             \
  X(reference_window)        \
  X(reference_normalization) \
  X(reference_statistics)    \
  X(reference_random)        \
  X(simd_random)             \
  X(reference_recurrent)     \
  X(reference_loss)          \
  X(reference_attention)     \
  X(reference_quantization)  \
  X(reference_qlinear)

#endif
