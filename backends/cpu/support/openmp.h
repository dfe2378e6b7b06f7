/* The OpenMP runtime under a library that contributes to the CPU: how many threads its next calls from this thread may
 * use. The kernels of OpenBLAS and oneDNN set it around their calls. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_OPENMP_H
#define ND4C_BACKENDS_CPU_SUPPORT_OPENMP_H

#include "backends/cpu/cpu.h"

/* NULL pointers where the library runs on something else. */
typedef struct nd4c_openmp {
  void (*set_num_threads)(int);
  int (*get_max_threads)(void);
  int (*get_max_active_levels)(void);
} nd4c_openmp;

/* Finds the runtime that an opened library brings; without all three functions there is none. */
static inline void nd4c_openmp_find(void *library, nd4c_openmp *omp) {
  void *set = nd4c_cpu_host->library_symbol(library, "omp_set_num_threads");
  void *get = nd4c_cpu_host->library_symbol(library, "omp_get_max_threads");
  void *levels = nd4c_cpu_host->library_symbol(library, "omp_get_max_active_levels");
  if (set != NULL && get != NULL && levels != NULL) {
    memcpy(&omp->set_num_threads, &set, sizeof set);
    memcpy(&omp->get_max_threads, &get, sizeof get);
    memcpy(&omp->get_max_active_levels, &levels, sizeof levels);
  }
}

/* Sets the width of this thread's teams. Returns the previous width for nd4c_openmp_leave, or 0 if it stays the same.
 * After a fork the width is 1: the threads of a team wait for each other, so a team must not count threads that do not
 * run. */
static inline int nd4c_openmp_enter(const nd4c_openmp *omp, int32_t width) {
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

static inline void nd4c_openmp_leave(const nd4c_openmp *omp, int before) {
  if (before > 0) {
    omp->set_num_threads(before);
  }
}

#endif
