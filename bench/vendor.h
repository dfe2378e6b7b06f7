/* Calls OpenBLAS and oneDNN directly, with their own choice of kernels, as peers of matmul. */
#ifndef ND4C_BENCH_VENDOR_H
#define ND4C_BENCH_VENDOR_H

#include <stdbool.h>
#include <stdint.h>

#include <nd4c/nd4c.h>

typedef struct bench_product bench_product;

typedef enum bench_vendor { BENCH_OPENBLAS = 0, BENCH_ONEDNN_SGEMM = 1, BENCH_ONEDNN_MATMUL = 2 } bench_vendor;

/* c [m, n] = a [m, k] b [k, n], all row-major, ready to run: float32 and float64, oneDNN's matmul primitive bfloat16
 * and int8 (into int32), too. NULL if the library or the dtype is not offered. */
ND4C_API bench_product *bench_product_make(int vendor, nd4c_dtype dtype, int64_t m, int64_t k, int64_t n, const void *a,
                                           const void *b, void *c);
/* False if the library reports a failure. */
ND4C_API bool bench_product_run(bench_product *product);
ND4C_API void bench_product_free(bench_product *product);
/* "OpenBLAS sgemm", ... */
ND4C_API const char *bench_vendor_name(int vendor, nd4c_dtype dtype);

#endif
