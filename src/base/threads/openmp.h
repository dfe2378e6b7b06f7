/* OpenMP for vendors' libraries. They are compiled for GCC's runtime of OpenMP, whose idle threads spin for
 * milliseconds and whose regions wait for every member, however busy the machine is. nd4c binds their calls of that
 * runtime to functions of its own, which run regions on the pool (pool.h). The rest of the process keeps its OpenMP.
 * device/memory/host.c opens libraries here for backends; parallel.c resets it after a fork. */
#ifndef ND4C_BASE_THREADS_OPENMP_H
#define ND4C_BASE_THREADS_OPENMP_H

#include <stdbool.h>
#include <stddef.h>

#include "nd4c/plugin/thread.h"

/* Opens a library as nd4c_os_library_open does, and describes the OpenMP under it, as nd4c_host.openmp_open says. */
nd4c_status nd4c_openmp_open(const char *name, const char *directories, void **library, nd4c_host_openmp *openmp);

/* In a child of fork: tells the runtimes of libraries that kept theirs to run regions on the caller alone. */
void nd4c_openmp_reset(void);

/* -- openmp.c implements these for openmp_library.c ---------------------------------------------------------------- */

/* The function of nd4c that stands for a function of GCC's runtime; NULL if there is none. */
void *nd4c_openmp_find(const char *symbol);
/* Whether a symbol belongs to some runtime of OpenMP. */
bool nd4c_openmp_is_symbol(const char *symbol);
/* What the same functions give backends. */
void nd4c_openmp_describe(nd4c_host_openmp *openmp);

#endif
