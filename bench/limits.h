/* Limits of the machine, measured in the same run as nd4c by hand-written loops. The benchmarks compare with them. */
#ifndef ND4C_BENCH_LIMITS_H
#define ND4C_BENCH_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nd4c/nd4c.h>

typedef enum bench_limit_op { BENCH_LIMIT_ADD = 0, BENCH_LIMIT_MULTIPLY = 1 } bench_limit_op;

/* y[i] = a[i * step] op b[i * step] on `width` threads; float32, float64 and bfloat16; step 1 or 2. `stream`: stores
 * bypass the caches where the processor has AVX-512 (else ordinary stores). y is aligned to 64 bytes. False: there is
 * no such loop. */
ND4C_API bool bench_limit_binary(int op, nd4c_dtype dtype, const void *a, const void *b, void *y, int64_t count,
                                 int64_t step, bool stream, int width);
/* memcpy on `width` threads. */
ND4C_API void bench_limit_copy(void *to, const void *from, size_t bytes, int width);
/* Reads all bytes on `width` threads; the sum keeps the compiler from leaving it out. */
ND4C_API double bench_limit_read(const void *from, size_t bytes, int width);
/* Peak multiply-adds of float32, float64, bfloat16 or int8 on `width` threads, in GFLOP/s, with AMX if the processor
 * and the system allow it; 0 if there is no loop for the dtype. */
ND4C_API double bench_limit_gflops(nd4c_dtype dtype, int width);
/* The same of so many attempts instead of ten: for a caller that spreads its own over time. */
ND4C_API double bench_limit_gflops_best(nd4c_dtype dtype, int width, int attempts);
/* Threads that these functions use if `width` are asked for: one in a build without OpenMP. */
ND4C_API int bench_limit_threads(int width);

#endif
