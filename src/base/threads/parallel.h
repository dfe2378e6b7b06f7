/* Runs a loop on several threads: a kernel computes a range of the loop, this runs ranges in parallel. Kernels call it
 * through the host table (device/memory/host.c); device and context ask for the default width. */
#ifndef ND4C_BASE_THREADS_PARALLEL_H
#define ND4C_BASE_THREADS_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

/* As nd4c_range_function of plugin.h. */
typedef void (*nd4c_parallel_range)(void *user, int64_t begin, int64_t end, int32_t worker);

/* Runs `range` over [0, count) in contiguous pieces of at least `grain` (the last may be shorter), at most `width` of
 * them at a time. The caller is one of the workers. Returns when all pieces are done. The split depends only on count,
 * grain and width. A call from inside a range runs on the calling thread. No range waits for another. */
void nd4c_parallel_for(int64_t count, int64_t grain, int32_t width, nd4c_parallel_range range, void *user);

/* memcpy by the default width. New memory costs more to clear than to fill, which the threads do side by side. */
void nd4c_parallel_copy(void *to, const void *from, int64_t bytes);

/* Default width: nd4c.width, or the number of processors that hwloc, affinity, the cgroup's cpu.max and OMP_NUM_THREADS
 * allow; at least 1. Cheap. */
int32_t nd4c_parallel_width(void);

/* The number of processors that this process may use; at least 1. The first call asks the system. */
int32_t nd4c_parallel_processors(void);

/* "threads", "openmp" or "serial": nd4c.pool, where auto is threads. Loops run on the pool unless it is serial. */
const char *nd4c_parallel_pool_name(void);
bool nd4c_parallel_is_serial(void);

#endif
