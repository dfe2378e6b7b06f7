/* What the OpenCL backend consists of: the one list of kernel families and the one list of engines. */
#ifndef ND4C_BACKENDS_OPENCL_FAMILIES_H
#define ND4C_BACKENDS_OPENCL_FAMILIES_H

/* X(family): a file defines nd4c_cl_<family>_kernels, an array of pointers to kernels that ends with NULL. */
// clang-format off
#define ND4C_CL_FAMILIES(X) \
  X(elementwise) \
  X(arrangement) \
  X(indexing) \
  X(masks) \
  X(index_parts) \
  X(sorting) \
  X(sets) \
  X(counts) \
  X(resize) \
  X(boxes) \
  X(creation) \
  X(signal) \
  X(quantize) \
  X(random) \
  X(random_laws) \
  X(random_categories) \
  X(random_order) \
  X(reduction) \
  X(matmul) \
  X(contraction) \
  X(normalization) \
  X(pool) \
  X(conv) \
  X(scan) \
  X(pointwise) \
  X(loss) \
  X(attention) \
  X(quantile) \
  X(clblast) \
  X(recurrent) \
  X(ctc) \
  X(states)

/* X(engine): in order of preference; a file defines nd4c_cl_<engine>_engine. */
#define ND4C_CL_ENGINES(X) \
  X(clblast) \
  X(opencl)
// clang-format on

#endif
