/* How many threads the next calls of a library from this thread may use. The kernels of OpenBLAS and oneDNN set it
 * around their calls. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_OPENMP_H
#define ND4C_BACKENDS_CPU_SUPPORT_OPENMP_H

#include "backends/cpu/cpu.h"

/* Sets the width of this thread's teams. Returns the previous width for nd4c_openmp_leave, or 0 if it stays the same.
 * After a fork the width is 1: the threads of a team wait for each other, so a team must not count threads that do not
 * run. */
static inline int nd4c_openmp_enter(const nd4c_host_openmp *omp, int32_t width) {
  if (omp->set_num_threads == NULL) {
    return 0;
  }
  int before = omp->get_max_threads(), wanted = width > 0 && omp->get_max_active_levels() != 0 ? width : 1;
  if (before == wanted) {
    return 0;
  }
  omp->set_num_threads(wanted);
  return before;
}

static inline void nd4c_openmp_leave(const nd4c_host_openmp *omp, int before) {
  if (before > 0) {
    omp->set_num_threads(before);
  }
}

#endif
