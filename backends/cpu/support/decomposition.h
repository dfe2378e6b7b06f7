/* Ops on matrices, one matrix of a batch at a time, with factorisations by engine reference or by LAPACK. Each op is
 * written once, in decomposition_*.c of this folder; reference/decomposition.c and openblas/decomposition.c bring their
 * methods and list the kernels. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_DECOMPOSITION_H
#define ND4C_BACKENDS_CPU_SUPPORT_DECOMPOSITION_H

#include <stdatomic.h>

#include "backends/cpu/reference/reference.h"
#include "kernels/reference/decomposition/decomposition.h"

/* Results of the computation of one matrix, besides LAPACK's k > 0. */
enum { ND4C_DENSE_FINE = 0, ND4C_DENSE_NO_MEMORY = -1 };

/* A worker's memory: blocks that stay for the next matrix. Methods use the slots from ND4C_SPACE_METHOD on. Blocks come
 * from the call's scratch as long as it lasts, which costs no page faults; such blocks have `pages` 0. */
enum { ND4C_SPACE_METHOD = 10, ND4C_SPACE_SLOTS = 16 };
typedef struct nd4c_cpu_space {
  void *blocks[ND4C_SPACE_SLOTS];
  int64_t bytes[ND4C_SPACE_SLOTS], pages[ND4C_SPACE_SLOTS];
  char *scratch;
  int64_t left;
} nd4c_cpu_space;
/* Room for `count` things of `size` bytes; contents undefined. NULL: no memory. */
void *nd4c_cpu_space_take(nd4c_cpu_space *space, int32_t slot, int64_t count, int64_t size);
void nd4c_cpu_space_clear(nd4c_cpu_space *space);

/* Factorisations of matrices by columns, of one type of numbers; results as
 * kernels/reference/decomposition/decomposition.h says. s and w of svd and eigh are real numbers of the same precision.
 */
typedef struct nd4c_cpu_dense {
  bool complex_numbers, single; /* double or double complex, or float or float complex */
  int64_t (*cholesky)(int64_t n, void *a);
  int64_t (*lu)(nd4c_cpu_space *space, int64_t m, int64_t n, void *a, int64_t *pivots);
  void (*triangular)(bool upper, bool adjoint, bool unit, int64_t n, int64_t k, const void *a, void *b);
  int64_t (*qr)(nd4c_cpu_space *space, int64_t m, int64_t n, void *a, int64_t columns, void *q);
  /* Any m and n. u [m, m] and vh [n, n] if full, else [m, least] and [least, n]; u NULL: s alone. */
  int64_t (*svd)(nd4c_cpu_space *space, int64_t m, int64_t n, void *a, bool full, void *s, void *u, void *vh);
  int64_t (*eigh)(nd4c_cpu_space *space, int64_t n, void *a, void *w, void *v);
  /* In double alone. */
  int64_t (*eig)(nd4c_cpu_space *space, int64_t n, void *a, double complex *w, double complex *v);
  void (*product)(bool adjoint, int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c);
  /* a, as lu leaves it, becomes the inverse. NULL: the ops solve for the columns of the identity. */
  int64_t (*invert)(nd4c_cpu_space *space, int64_t n, void *a, const int64_t *pivots);
} nd4c_cpu_dense;

/* One call. */
typedef struct nd4c_cpu_dense_job {
  const nd4c_call *call;
  const nd4c_cpu_dense *dense;
  int64_t (*one)(const struct nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space);
  int64_t bytes; /* of a number */
  int32_t width; /* of one matrix's computation */
  int32_t batch_rank;
  const int64_t *batch_shape;
  int64_t m, n, least;     /* of the matrices of input 0 */
  _Atomic int64_t *failed; /* the first matrix that could not be computed, and why */
  _Atomic int64_t *outcome;
} nd4c_cpu_dense_job;

/* Computes matrix `index` of a batch. */
typedef int64_t (*nd4c_cpu_dense_one)(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space);

/* X(op): every op that is made of the methods. */
#define ND4C_CPU_DENSE_OPS(X) \
  X(cholesky)                 \
  X(det)                      \
  X(slogdet)                  \
  X(inv)                      \
  X(solve)                    \
  X(triangular_solve)         \
  X(cholesky_solve)           \
  X(qr)                       \
  X(svd)                      \
  X(svdvals)                  \
  X(eigh)                     \
  X(eigvalsh)                 \
  X(eig)                      \
  X(eigvals)                  \
  X(pinv)                     \
  X(matrix_rank)              \
  X(lstsq)                    \
  X(lu)                       \
  X(lu_factor)                \
  X(lu_solve)                 \
  X(matrix_power)             \
  X(expm)                     \
  X(matrix_norm)
#define ND4C_CPU_DENSE_DECLARE(op) \
  int64_t nd4c_cpu_dense_##op(const nd4c_cpu_dense_job *job, int64_t index, nd4c_cpu_space *space);
ND4C_CPU_DENSE_OPS(ND4C_CPU_DENSE_DECLARE)
#undef ND4C_CPU_DENSE_DECLARE

/* Multiplications from which a factorisation is faster on two threads than on one, 1625^3: see decomposition.c. */
#define ND4C_DENSE_LEAST_SHARED 4294967296.0

/* Computes all matrices of the call; methods[1] for complex numbers, [2] and [3] in single precision, NULL where an
 * engine has none. enter and leave: called around pieces in which each worker computes its own matrices (leave gets
 * what enter gave); NULL: nothing to do. */
typedef struct nd4c_cpu_dense_engine {
  const nd4c_cpu_dense *methods[4];
  int (*enter)(int32_t width);
  void (*leave)(int before);
  bool splits; /* the methods use several threads for one matrix */
} nd4c_cpu_dense_engine;
/* The scratch that a kernel asks for: what one large matrix takes. */
int64_t nd4c_cpu_dense_scratch(const nd4c_call *call);
nd4c_status nd4c_cpu_dense_run(const nd4c_call *call, const nd4c_cpu_dense_engine *engine, nd4c_cpu_dense_one one);

/* -- for the ops -------------------------------------------------------------------------------------------------- */

/* Matrix `index` of an operand whose last `axes` axes (0 to 2) are the matrix, the ones before a batch that is
 * broadcast to the call's. */
nd4c_dense_place nd4c_cpu_dense_place(const nd4c_cpu_dense_job *job, const nd4c_tensor *tensor, int32_t axes,
                                      int64_t index);
/* The same, transposed. */
nd4c_dense_place nd4c_cpu_dense_transposed(nd4c_dense_place place);
/* A number's room in a slot. */
void *nd4c_cpu_dense_take(const nd4c_cpu_dense_job *job, nd4c_cpu_space *space, int32_t slot, int64_t count);
/* Input `input`'s matrix in a slot, or NULL. */
void *nd4c_cpu_dense_load(const nd4c_cpu_dense_job *job, nd4c_cpu_space *space, int32_t slot, int32_t input,
                          int32_t axes, int64_t index);
/* The same from a place. */
void nd4c_cpu_dense_load_from(const nd4c_cpu_dense_job *job, const nd4c_dense_place *from, void *to);
bool nd4c_cpu_dense_is_finite(const nd4c_cpu_dense_job *job, int64_t count, const void *x);
/* Number `position` of a matrix, and a real number written there. */
double complex nd4c_cpu_dense_get(const nd4c_cpu_dense_job *job, const void *a, int64_t position);
void nd4c_cpu_dense_set(const nd4c_cpu_dense_job *job, void *a, int64_t position, double value);
/* Writes numbers into an output's matrix; _real: real numbers of the job's precision; _to: into a place; _as: numbers
 * of `dtype`, which is the output's, or float64 or complex128. */
void nd4c_cpu_dense_store(const nd4c_cpu_dense_job *job, int32_t output, int32_t axes, int64_t index, const void *from);
void nd4c_cpu_dense_store_real(const nd4c_cpu_dense_job *job, int32_t output, int32_t axes, int64_t index,
                               const void *from);
void nd4c_cpu_dense_store_to(const nd4c_cpu_dense_job *job, const nd4c_dense_place *to, const void *from);
void nd4c_cpu_dense_store_as(const nd4c_cpu_dense_job *job, int32_t output, int32_t axes, int64_t index,
                             nd4c_dtype dtype, const void *from);
/* All elements of every output's matrix NaN, or 0 where an integer stands. axes: of each output. */
int64_t nd4c_cpu_dense_store_nan(const nd4c_cpu_dense_job *job, nd4c_cpu_space *space, int64_t index,
                                 const int32_t *axes);
/* Part of a matrix set to 0: below (or above) the diagonal. */
void nd4c_cpu_dense_clear_triangle(const nd4c_cpu_dense_job *job, bool upper, int64_t m, int64_t n, void *a);

#endif
