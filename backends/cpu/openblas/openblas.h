/* What the files of engine openblas share: the loaded library. onednn/contraction.c asks through this whether OpenBLAS
 * is there. */
#ifndef ND4C_BACKENDS_CPU_OPENBLAS_OPENBLAS_H
#define ND4C_BACKENDS_CPU_OPENBLAS_OPENBLAS_H

#include "backends/cpu/cpu.h"
#include "backends/cpu/openblas/lapack.h"
#include "backends/cpu/support/openmp.h"

/* Values of the C BLAS interface. */
enum {
  CBLAS_BY_ROWS = 101,
  CBLAS_BY_COLUMNS = 102,
  CBLAS_AS_IS = 111,
  CBLAS_TRANSPOSED = 112,
  CBLAS_ADJOINT = 113,
  CBLAS_UPPER = 121,
  CBLAS_LOWER = 122,
  CBLAS_NON_UNIT = 131,
  CBLAS_UNIT = 132,
  CBLAS_LEFT = 141,
  CBLAS_RIGHT = 142
};
/* openblas_get_parallel() */
enum { OPENBLAS_SERIAL = 0, OPENBLAS_PTHREADS = 1, OPENBLAS_OPENMP = 2 };

/* The one symbol list: X(result, name, parameters). Extents are int: a library built for 64-bit ones is refused. */
#define ND4C_OPENBLAS_SYMBOLS(X)                                                                                      \
  X(void, cblas_sgemm,                                                                                                \
    (int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int))               \
  X(void, cblas_dgemm,                                                                                                \
    (int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int))          \
  X(void, cblas_cgemm,                                                                                                \
    (int, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int))    \
  X(void, cblas_zgemm,                                                                                                \
    (int, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int))    \
  X(void, cblas_sgemv, (int, int, int, int, float, const float *, int, const float *, int, float, float *, int))      \
  X(void, cblas_dgemv, (int, int, int, int, double, const double *, int, const double *, int, double, double *, int)) \
  X(void, cblas_strsm, (int, int, int, int, int, int, int, float, const void *, int, void *, int))                    \
  X(void, cblas_ctrsm, (int, int, int, int, int, int, int, const void *, const void *, int, void *, int))             \
  X(void, cblas_dtrsm, (int, int, int, int, int, int, int, double, const void *, int, void *, int))                   \
  X(void, cblas_ztrsm, (int, int, int, int, int, int, int, const void *, const void *, int, void *, int))             \
  X(char *, openblas_get_config, (void))                                                                              \
  X(char *, openblas_get_corename, (void))                                                                            \
  X(int, openblas_get_parallel, (void))                                                                               \
  X(void, openblas_set_num_threads, (int))

/* The library. Made once, never changed afterwards. */
typedef struct nd4c_openblas {
  bool ready;
  char text[1024]; /* configuration and file, or why it is not ready */
  int parallel;
  nd4c_host_openmp
      omp; /* another OpenBLAS is limited to one thread when it is opened, its work split over nd4c's pool */
#define ND4C_OPENBLAS_FIELD(result, name, parameters) result(*name) parameters;
  ND4C_OPENBLAS_SYMBOLS(ND4C_OPENBLAS_FIELD)
#undef ND4C_OPENBLAS_FIELD
  nd4c_lapack lapack;
  int32_t most_threads; /* that OPENBLAS_NUM_THREADS allows; INT32_MAX: it says nothing */
} nd4c_openblas;

/* The width within what the environment allows OpenBLAS. */
static inline int32_t nd4c_openblas_width(const nd4c_openblas *blas, int32_t width) {
  return width < blas->most_threads ? width : blas->most_threads;
}

/* nd4c_openmp_enter within the same. nd4c_openmp_leave ends it. */
static inline int nd4c_openblas_enter(const nd4c_openblas *blas, int32_t width) {
  return nd4c_openmp_enter(&blas->omp, nd4c_openblas_width(blas, width));
}

/* The least rows of a piece: so many that it costs little that every piece packs the right matrix; or, where that
 * leaves one piece, fewer, at some cost. */
enum { ND4C_OPENBLAS_MANY = 64, ND4C_OPENBLAS_FEW = 32 };

/* Rows of a product with n columns and sums of k terms that are worth a thread: some ten microseconds, and at least
 * `least`. Threads of OpenBLAS's own division of a product wait for
 * each other without sleeping: beside busy programs that takes several times as long as one thread, and pieces do not.
 */
static inline int64_t nd4c_openblas_rows_from(int64_t least, int64_t n, int64_t k) {
  enum { MULTIPLICATIONS = 1 << 18 };
  const int64_t rows = MULTIPLICATIONS / (n * k > 0 ? n * k : 1);
  return rows > least ? rows : least;
}

static inline int64_t nd4c_openblas_rows(int64_t n, int64_t k) {
  return nd4c_openblas_rows_from(ND4C_OPENBLAS_MANY, n, k);
}

/* Opens the library on the first call. NULL: no memory for the record (try again); else check `ready`. */
const nd4c_openblas *nd4c_openblas_get(void);
/* The end of a kernel's usable(): writes `why` where it is not NULL, else asks for the library. */
bool nd4c_openblas_accept(const char *why, char *reason, size_t reason_size);

/* The kernels of this folder: lists that end in NULL. */
extern const nd4c_kernel *const nd4c_cpu_openblas_contraction_kernels[];
extern const nd4c_kernel *const nd4c_cpu_openblas_decomposition_kernels[];
extern const nd4c_kernel *const nd4c_cpu_openblas_contraction_matmul_kernels[];

/* The engine's state for people; see nd4c_engine. */
bool nd4c_openblas_state(bool verify, char *text, size_t text_size);
/* Frees what the engine holds, the loaded library's record included. */
void nd4c_openblas_close(void);

#endif
