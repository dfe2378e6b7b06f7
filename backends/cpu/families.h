/* What the CPU backend consists of: the one list of kernel families and the one list of engines.
 *
 * X(family): a file <family>.c that defines nd4c_cpu_<family>_kernels, an array of kernels that ends with NULL. */
#ifndef ND4C_BACKENDS_CPU_FAMILIES_H
#define ND4C_BACKENDS_CPU_FAMILIES_H

#define ND4C_CPU_FAMILIES(X) \
  X(copy)                    \
  X(binary)                  \
  X(linalg)                  \
  X(nn)

/* X(engine): in order of preference; a file defines nd4c_cpu_<engine>_engine. */
#define ND4C_CPU_ENGINES(X) X(reference)

#endif
