/* The numbers from which ranges and windows are made, for every backend. backends/reading.h reads them from a call's
 * attributes; the kernels of the reference and families/creation.c of opencl take them. */
#ifndef ND4C_KERNELS_CREATION_H
#define ND4C_KERNELS_CREATION_H

#include <stdbool.h>
#include <stdint.h>

/* linspace: start + i (stop - start) / steps; logspace: base to the power of that. */
typedef struct nd4c_spacing {
  double start, stop, base;
  int64_t steps;
  bool is_power;
} nd4c_spacing;

/* Windows: a[0] - a[1] cos(2 pi i / n) + a[2] cos(4 pi i / n). */
typedef struct nd4c_cosines {
  double a[3];
  int64_t n;
} nd4c_cosines;

#endif
